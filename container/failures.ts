import type { Blame, Failure, FailureCode } from "../src/contract/failure.ts"

/** How a task failed, and whose fault it is. */
export type TaskFailure = { blame: Blame; failure: Failure }

/** A failure that is the caller's fault, which makes it final. */
export function callerFailure(
  code: FailureCode,
  message: string,
  lines: string[] = [],
): TaskFailure {
  return { blame: "caller", failure: { code, message, lines } }
}

/** A failure of the runner, not of the caller, which no retry can help; `code` goes into the report. */
export class RunnerError extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
