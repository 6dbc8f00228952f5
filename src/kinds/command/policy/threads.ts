import { quote } from "./refusal.ts"
import type { Refusal } from "./refusal.ts"

const THREADS_MAX = 64

/** Why a number of threads is not allowed; null where it is. */
export function judgeThreads(value: string): Pick<Refusal, "code" | "message"> | null {
  if (value === "auto" || (/^\d{1,9}$/.test(value) && Number(value) <= THREADS_MAX)) return null
  const message = `${quote(value)}: expected a whole number of threads up to ${THREADS_MAX}, or auto`
  return { code: "value_not_allowed", message }
}
