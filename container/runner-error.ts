import type { FailureCode } from "../src/contract/failure.ts"

/** A failure that is ours, not the caller's; `code` is what the task's report says. */
export class RunnerError extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
