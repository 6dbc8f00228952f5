import { quoteShortenedValue } from "./refusal.ts"
import type { CommandRefusal } from "./refusal.ts"

const THREADS_MAX = 64

/**
 * Returns the fault of an option value that sets a number of threads; null if the value is allowed.
 */
export function findThreadCountFault(
  value: string,
): Pick<CommandRefusal, "code" | "message"> | null {
  if (value === "auto" || (/^\d{1,9}$/.test(value) && Number(value) <= THREADS_MAX)) return null
  const message = `${quoteShortenedValue(value)}: expected a whole number of threads up to ${THREADS_MAX}, or auto`
  return { code: "value_not_allowed", message }
}
