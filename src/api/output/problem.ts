import type { Fault } from "../../domain/faults.ts"

/** Error codes of the API with their HTTP status and title. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: "The request is malformed" },
  invalid_token: { status: 401, title: "The API key is missing, invalid or revoked" },
  scope_missing: { status: 403, title: "The key lacks a scope" },
  account_suspended: { status: 403, title: "The account is suspended" },
  storage_limit_exceeded: { status: 403, title: "The account has reached its storage limit" },
  forbidden: { status: 403, title: "The request is not allowed" },
  invalid_signature: { status: 403, title: "The signature of the link is invalid" },
  not_found: { status: 404, title: "The resource does not exist" },
  no_log: { status: 404, title: "The job has no log" },
  method_not_allowed: { status: 405, title: "The path does not take the method" },
  request_timeout: { status: 408, title: "The request did not arrive in time" },
  idempotency_conflict: { status: 409, title: "Another request used the Idempotency-Key" },
  key_limit_exceeded: { status: 409, title: "The account has reached its limit of keys" },
  endpoint_limit_exceeded: { status: 409, title: "The account has reached its limit of endpoints" },
  link_limit_exceeded: { status: 409, title: "The account has reached its limit of upload links" },
  key_not_rotatable: { status: 409, title: "The key cannot be rotated" },
  offset_conflict: { status: 409, title: "The upload has another offset" },
  already_final: { status: 409, title: "The job has ended" },
  not_final: { status: 409, title: "The job has not ended" },
  too_many_dependents: { status: 409, title: "Too many jobs wait for the job" },
  not_retryable: { status: 409, title: "The job cannot be retried" },
  plan_in_use: { status: 409, title: "The plan is in use" },
  link_expired: { status: 410, title: "The link has expired" },
  link_used: { status: 410, title: "The upload link was used" },
  precondition_failed: { status: 412, title: "A precondition of the request failed" },
  payload_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The media type of the body is not supported" },
  range_not_satisfiable: { status: 416, title: "The range is outside the file" },
  expectation_failed: { status: 417, title: "The Expect header is not supported" },
  misdirected_request: { status: 421, title: "The host does not belong to this service" },
  media_type_not_allowed: {
    status: 415,
    title: "The upload link does not take the type of the file",
  },
  unprocessable: { status: 422, title: "The request has invalid fields" },
  too_complex: { status: 422, title: "The request is too complex" },
  upload_taken_over: { status: 423, title: "Another request continued the upload" },
  rate_limit_exceeded: { status: 429, title: "The key or network address sent too many requests" },
  job_limit_exceeded: { status: 429, title: "The account has reached its limit of waiting jobs" },
  fetch_limit_exceeded: {
    status: 429,
    title: "The account has reached its daily limit of fetches",
  },
  too_many_uploads: { status: 429, title: "The key has too many open uploads" },
  headers_too_large: { status: 431, title: "The headers of the request are too large" },
  checksum_mismatch: { status: 460, title: "The bytes do not have the announced checksum" },
  internal: { status: 500, title: "An internal error occurred" },
  connection_failed: { status: 502, title: "The site cannot be reached" },
  incomplete: { status: 502, title: "The site did not send its whole answer" },
  rate_limited_by_site: { status: 502, title: "The site limits the rate of requests" },
  server_error: { status: 502, title: "The site answered with an error" },
  site_changed: { status: 502, title: "yt-dlp does not understand the site" },
  too_many_redirects: { status: 502, title: "The site redirects too often" },
  tool_missing: { status: 503, title: "The service lacks a required tool" },
  overloaded: { status: 503, title: "The service is overloaded" },
  unavailable: { status: 503, title: "A part of the service is unavailable" },
  too_slow: { status: 504, title: "The site did not answer in time" },
  storage_full: { status: 507, title: "The disk of the service is full" },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code)
}

export type ProblemOptions = {
  details?: Fault[]
  headers?: Record<string, string>
  retryAfterSeconds?: number
  cause?: unknown
}

/** Error response of the API: a code, a public message, and a cause that is only logged. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly options: ProblemOptions

  constructor(code: ProblemCode, message: string, options: ProblemOptions = {}) {
    super(message, { cause: options.cause })
    this.name = "Problem"
    this.code = code
    this.options = options
  }
}

/** Returns the 422 error for one invalid field. */
export function invalidFieldProblem(field: string, message: string, cause?: unknown): Problem {
  return invalidFieldsProblem([{ field, message }], cause)
}

/** Maximum number of faults in an error response. */
export const FAULTS_MAX = 100

export function truncateFaults(faults: Fault[]): Fault[] {
  return faults.slice(0, FAULTS_MAX)
}

/** Returns the 422 error for all invalid fields of a request. */
export function invalidFieldsProblem(faults: Fault[], cause?: unknown): Problem {
  const details = truncateFaults(faults)
  const [first] = details
  const others = faults.length > 1 ? `; and ${faults.length - 1} more` : ""
  const message = first
    ? `${first.field}: ${first.message}${others}`
    : "The request has invalid fields."
  const isTooComplex = details.some(({ code }) => code === "too_complex")
  return new Problem(isTooComplex ? "too_complex" : "unprocessable", message, { details, cause })
}

/**
 * Returns the 507 error for a full disk. The rest of the disk is reserved for the database and
 * running tasks.
 */
export function storageFullProblem(cause?: unknown): Problem {
  const message =
    "The disk of the service is full; send the request again when files are deleted or the operator has freed space."
  return new Problem("storage_full", message, { cause })
}

export function notFoundProblem(title: string): Problem {
  return new Problem("not_found", `No such ${title} exists.`)
}

/** Adds the default code `invalid_field` to a fault without a code. */
export function withDefaultFaultCode(fault: Fault): Fault & { code: string } {
  return { code: "invalid_field", ...fault }
}

const PROBLEM_JSON = "application/problem+json"
/** Matches an Accept header with `application/problem+json` and a quality above 0. */
const ACCEPTS_PROBLEM_JSON =
  /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:[,;]|$))[^,]*)?(?:,|$)/i

/**
 * Returns the HTTP response of an error, with the API's own fields and those of RFC 9457. The
 * content type is `application/problem+json` if `accept` asks for it.
 */
export function problemResponse(
  problem: Problem,
  { requestId, accept }: { requestId: string; accept: string },
): Response {
  const { code, message } = problem
  const { status, title } = PROBLEMS[code]
  const { details = [], headers = {}, retryAfterSeconds } = problem.options
  const retry = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds }
  const own =
    status === 422
      ? { error: "validation_error", message, code: status }
      : { error: { code, message, ...retry }, code, message }
  const shared = {
    details: details.map(withDefaultFaultCode),
    type: `/docs/errors/${code}`,
    title,
    status,
    detail: message,
    code_name: code,
    request_id: requestId,
  }
  const contentType = ACCEPTS_PROBLEM_JSON.test(accept) ? PROBLEM_JSON : "application/json"
  return Response.json(
    { ...own, ...shared },
    { status, headers: { ...headers, "content-type": contentType } },
  )
}
