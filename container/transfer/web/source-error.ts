import type { FailureCode } from "../../../src/contract/failure.ts"
import { adviseOn } from "../../egress/advise.ts"
import { toEgressError } from "../../egress/dial.ts"
import { RunnerError } from "../../failures.ts"

/** Why the bytes that a URL names cannot be had, as their caller is told; `message` is a sentence. */
export class SourceError extends Error {
  readonly code: FailureCode
  /** Whether asking again may help. */
  readonly isPassing: boolean
  /** How long the server wants nobody to ask again; null where it does not say. */
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

/** The source is not what it was when it was first asked: whatever was read of it does not count. */
export class SourceChangedError extends Error {}

const PASSING_CODES = new Set<FailureCode>(["connection_failed", "server_error", "too_slow"])

/** What a failed request or a cut answer means; anything that is no fault of the web is thrown. */
export function toSourceError(error: unknown): SourceError {
  if (error instanceof SourceError) return error
  const isOfConnection = error instanceof Error && "code" in error
  if (!isOfConnection || error instanceof RunnerError) throw error
  const refused = toEgressError(error, "the server")
  const { code } = refused
  return new SourceError(code, adviseOn(refused), {
    isPassing: PASSING_CODES.has(code),
    cause: error,
  })
}
