import type { FailureCode } from "../../../src/contract/failure.ts"
import { formatEgressErrorMessage } from "../../egress/message-with-advice.ts"
import { toEgressError } from "../../egress/dial.ts"
import { RunnerError } from "../../task-failure.ts"

/**
 * Error that explains why a source cannot be downloaded. `message` is a sentence for the caller.
 */
export class SourceError extends Error {
  readonly code: FailureCode
  /** Whether the error is temporary, so that another attempt may succeed. */
  readonly isPassing: boolean
  /**
   * Delay before another attempt, in milliseconds, that the server has requested; null if the
   * server has not requested a delay.
   */
  readonly retryAfterMs: number | null

  constructor(
    code: FailureCode,
    message: string,
    more: { isPassing?: boolean; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.isPassing = more.isPassing ?? false
    this.retryAfterMs = more.retryAfterMs ?? null
  }
}

/**
 * Error that means that the source has changed since the first response, so that all bytes received
 * so far are useless.
 */
export class SourceChangedError extends Error {}

const PASSING_CODES = new Set<FailureCode>(["connection_failed", "server_error", "too_slow"])

/**
 * Converts the error of a failed request or a broken connection to a SourceError. Rethrows all
 * other errors.
 */
export function toSourceError(error: unknown): SourceError {
  if (error instanceof SourceError) return error
  const isOfConnection = error instanceof Error && "code" in error
  if (!isOfConnection || error instanceof RunnerError) throw error
  const refused = toEgressError(error, "the server")
  const { code } = refused
  return new SourceError(code, formatEgressErrorMessage(refused), {
    isPassing: PASSING_CODES.has(code),
    cause: error,
  })
}
