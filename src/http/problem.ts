import type { Fault } from "../faults.ts"

/** Every error code of the HTTP interface: its status, and what it is in a few words. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: "The request cannot be understood" },
  invalid_token: { status: 401, title: "The API key is missing, invalid or revoked" },
  scope_missing: { status: 403, title: "The key may not do this" },
  account_suspended: { status: 403, title: "The account is suspended" },
  storage_limit_exceeded: { status: 403, title: "The account stores as much as its plan allows" },
  forbidden: { status: 403, title: "This is not allowed" },
  invalid_signature: { status: 403, title: "The link is not one of this service" },
  not_found: { status: 404, title: "There is no such thing" },
  no_log: { status: 404, title: "The job has no log" },
  method_not_allowed: { status: 405, title: "The method is not for this path" },
  request_timeout: { status: 408, title: "The request did not arrive in time" },
  idempotency_conflict: { status: 409, title: "The Idempotency-Key was used for something else" },
  key_limit_exceeded: { status: 409, title: "The account has as many keys as it may" },
  key_not_rotatable: { status: 409, title: "The key counts no more, or was rotated already" },
  already_final: { status: 409, title: "The job is over" },
  not_final: { status: 409, title: "The job is not over" },
  not_retryable: { status: 409, title: "The job cannot be done again" },
  plan_in_use: { status: 409, title: "Accounts have the plan" },
  link_expired: { status: 410, title: "The link has expired" },
  precondition_failed: { status: 412, title: "A condition of the request does not hold" },
  payload_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The body has another media type" },
  range_not_satisfiable: { status: 416, title: "There is nothing in this range" },
  expectation_failed: { status: 417, title: "The Expect header cannot be met" },
  misdirected_request: { status: 421, title: "The host is not one of this service" },
  unprocessable: { status: 422, title: "Fields of the request cannot be used" },
  too_complex: { status: 422, title: "The request takes too long to judge" },
  rate_limit_exceeded: { status: 429, title: "The key, or its address, made too many requests" },
  job_limit_exceeded: { status: 429, title: "The account has as many jobs waiting as it may" },
  fetch_limit_exceeded: { status: 429, title: "The account brought in as much as it may today" },
  too_many_uploads: { status: 429, title: "The key has too many uploads open" },
  headers_too_large: { status: 431, title: "The head of the request is too large" },
  internal: { status: 500, title: "Something failed inside the service" },
  connection_failed: { status: 502, title: "The site cannot be reached" },
  incomplete: { status: 502, title: "The site did not send all that it said it would" },
  rate_limited_by_site: { status: 502, title: "The site refuses so many requests" },
  server_error: { status: 502, title: "The site answered with an error" },
  site_changed: { status: 502, title: "The site is not as yt-dlp knows it" },
  too_many_redirects: { status: 502, title: "The site redirects too often" },
  tool_missing: { status: 503, title: "The service has not what this needs" },
  overloaded: { status: 503, title: "The service has no room at the moment" },
  unavailable: { status: 503, title: "A part of the service does not answer" },
  too_slow: { status: 504, title: "The site did not answer in time" },
  storage_full: { status: 507, title: "The service has no room to store more" },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code)
}

export type ProblemFacts = {
  details?: Fault[]
  headers?: Record<string, string>
  retryAfterSeconds?: number
  cause?: unknown
}

/** An answer other than the requested one: a code, a public sentence, and a cause that stays inside. */
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

/** Faults that an answer names at most: nobody reads more of them. */
export const FAULTS_MAX = 100

/** The faults that are told. */
export function toldFaults(faults: Fault[]): Fault[] {
  return faults.slice(0, FAULTS_MAX)
}

/** A well-formed request that cannot be used, with every field at fault. */
export function unprocessables(faults: Fault[], cause?: unknown): Problem {
  const details = toldFaults(faults)
  const [first] = details
  const others = faults.length > 1 ? `; and ${faults.length - 1} more` : ""
  const message = first
    ? `${first.field}: ${first.message}${others}`
    : "The request cannot be used."
  const isTooComplex = details.some(({ code }) => code === "too_complex")
  return new Problem(isTooComplex ? "too_complex" : "unprocessable", message, { details, cause })
}

/** What is to be stored does not fit the disk, of which rows and running work need the rest. */
export function storageFull(cause?: unknown): Problem {
  const message =
    "The disk of the service is full; send it again when files were deleted or the operator made room."
  return new Problem("storage_full", message, { cause })
}

export function notFound(what: string): Problem {
  return new Problem("not_found", `There is no such ${what}.`)
}

/** A fault with its code; one of a field as such has none of its own. */
export function withCode(fault: Fault): Fault & { code: string } {
  return { code: "invalid_field", ...fault }
}

const PROBLEM_JSON = "application/problem+json"
/** An Accept header that names that type, and not with a quality of nothing. */
const ACCEPTS_PROBLEM_JSON =
  /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:[,;]|$))[^,]*)?(?:,|$)/i

/**
 * The body of an error: the interface's own members, and those of RFC 9457 beside them so that one
 * parser serves. `application/problem+json` where `accept` asks for it.
 */
export function problemResponse(
  problem: Problem,
  { requestId, accept }: { requestId: string; accept: string },
): Response {
  const { code, message } = problem
  const { status, title } = PROBLEMS[code]
  const { details = [], headers = {}, retryAfterSeconds } = problem.facts
  const retry = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }
  const own =
    status === 422
      ? { error: "validation_error", message, code: status, details: details.map(withCode) }
      : { error: { code, message, ...retry }, code, message }
  const type = `/docs/errors/${code}`
  const shared = { type, title, status, detail: message, code_name: code, request_id: requestId }
  const contentType = ACCEPTS_PROBLEM_JSON.test(accept) ? PROBLEM_JSON : "application/json"
  return Response.json(
    { ...own, ...shared },
    { status, headers: { ...headers, "content-type": contentType } },
  )
}
