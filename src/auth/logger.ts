import { log } from "../log.ts"

const TEXT_LENGTH_MAX = 300

/** Errors of better-auth about what a caller sent, which whoever likes can cause. */
const ABOUT_CALLERS =
  /^(?:Invalid (?:origin|\w*URL): |Blocked cross-site navigation |Failed to parse state$|State not found$|INVALID_CALLBACK_REQUEST$|Provider (?:not found|does not support) |OAuth issuer mismatch$|Failed to get user info$)/

type Level = "debug" | "info" | "success" | "warn" | "error"

/**
 * Takes better-auth's errors to the log. Failed sign-ins are none, and what is thrown by the
 * database says with which values, so that only the names of such errors are told.
 */
export const logger = {
  disableColors: true,
  log(level: Exclude<Level, "success">, message: string, ...facts: unknown[]): void {
    if (level !== "error") return
    const text = message.slice(0, TEXT_LENGTH_MAX)
    if (ABOUT_CALLERS.test(message)) {
      log("info", "auth.refused", { message: text })
      return
    }
    const causes = facts.flatMap((fact) => (fact instanceof Error ? [nameOf(fact)] : []))
    log("error", "auth.failed", { message: text, causes })
  },
}

function nameOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error ? `${error.name}: ${cause.message}` : error.name
}
