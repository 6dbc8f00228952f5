import type { Blame, Failure, FailureCode } from "../src/contract/failure.ts"

/** Failure of a task, and the party that caused it: the caller or the service. */
export type TaskFailure = { blame: Blame; failure: Failure }

/**
 * Returns a failure of a task that the caller caused. The failure is final, and the task is not
 * retried.
 */
export function createCallerFailure(
  code: FailureCode,
  message: string,
  lines: string[] = [],
): TaskFailure {
  return { blame: "caller", failure: { code, message, lines } }
}

/**
 * Error that the runner caused and that an immediate retry cannot solve. The run reports `code` as
 * the code of the failure.
 */
export class RunnerError extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
