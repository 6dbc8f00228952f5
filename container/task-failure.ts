import type { Blame, Failure, FailureCode } from "../src/contract/failure.ts"

/** Failure of a task, and the party that caused it: the caller or the service. */
export type TaskFailure = { blame: Blame; failure: Failure }

/** Returns a failure that the caller caused. Such a failure is final: the task is not retried. */
export function callerFailure(
  code: FailureCode,
  message: string,
  lines: string[] = [],
): TaskFailure {
  return { blame: "caller", failure: { code, message, lines } }
}

/**
 * Error of the runner, not of the caller, that a retry cannot solve. The run reports `code` as the
 * code of the failure.
 */
export class RunnerError extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
