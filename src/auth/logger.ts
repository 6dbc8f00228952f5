import { logError } from "../log.ts"

const TEXT_LENGTH_MAX = 300

type Level = "debug" | "info" | "success" | "warn" | "error"

/**
 * Takes better-auth's errors to the log. Failed sign-ins are none, and what is thrown by the
 * database says with which values, so that only the names of such errors are told.
 */
export const logger = {
  disableColors: true,
  log(level: Exclude<Level, "success">, message: string, ...facts: unknown[]): void {
    if (level !== "error") return
    const causes = facts.flatMap((fact) => (fact instanceof Error ? [nameOf(fact)] : []))
    logError("auth.failed", { message: message.slice(0, TEXT_LENGTH_MAX), causes })
  },
}

function nameOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error ? `${error.name}: ${cause.message}` : error.name
}
