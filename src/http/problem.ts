/** Every error code of the HTTP interface and its status. */
export const STATUS_OF = {
  invalid_request: 400,
  invalid_token: 401,
  forbidden: 403,
  invalid_signature: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  already_final: 409,
  not_final: 409,
  link_expired: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unprocessable: 422,
  rate_limit_exceeded: 429,
  internal: 500,
  overloaded: 503,
} as const satisfies Record<string, number>

export type ProblemCode = keyof typeof STATUS_OF

/**
 * One field of a request that cannot be used, and what was expected of it; in a command also the
 * option at fault, and a code that programs can tell it by.
 */
export type Detail = { field: string; message: string; option?: string; code?: string }

export type ProblemFacts = {
  details?: Detail[]
  headers?: Record<string, string>
  retryAfterSeconds?: number
  cause?: unknown
}

/** An answer that is not the one asked for: a code, a public sentence, and a cause that stays inside. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly facts: ProblemFacts

  constructor(code: ProblemCode, message: string, facts: ProblemFacts = {}) {
    super(message, { cause: facts.cause })
    this.name = "Problem"
    this.code = code
    this.facts = facts
  }
}

/** A well-formed request that cannot be used, one field at fault. */
export function unprocessable(field: string, message: string, cause?: unknown): Problem {
  return unprocessables([{ field, message }], cause)
}

/** A well-formed request that cannot be used, with every field at fault. */
export function unprocessables(details: Detail[], cause?: unknown): Problem {
  const [first] = details
  const message = first ? `${first.field}: ${first.message}` : "The request cannot be used."
  return new Problem("unprocessable", message, { details, cause })
}

export function notFound(what: string): Problem {
  return new Problem("not_found", `There is no such ${what}.`)
}

/** The one shape of an error, and the other of a 422. */
export function problemResponse(problem: Problem): Response {
  const status = STATUS_OF[problem.code]
  const { details = [], headers = {}, retryAfterSeconds } = problem.facts
  const { code, message } = problem
  const retry = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }
  const body =
    status === 422
      ? { error: "validation_error", message, code: status, details: details.map(codeOf) }
      : { error: { code, message, ...retry }, code, message }
  return Response.json(body, { status, headers })
}

/** A detail with its code; one of a field as such names none of its own. */
export function codeOf(detail: Detail): Detail {
  return { code: "invalid_field", ...detail }
}
