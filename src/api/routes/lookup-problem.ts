import type { FailureCode } from "../../contract/failure.ts"
import { Problem, invalidFieldsProblem } from "../output/problem.ts"
import type { ProblemCode } from "../output/problem.ts"
import type { Job } from "../../db/schema/jobs.ts"

/** Failures caused by the URL: the caller must send another URL. */
const CALLER_FAILURES: ReadonlySet<FailureCode> = new Set([
  "url_not_allowed",
  "not_found",
  "login_required",
  "geo_blocked",
  "live_stream",
  "unsupported_site",
  "playlist_not_supported",
  "drm_protected",
  "too_large",
])

/** Failures whose cause is the website, or the connection to the website. */
const SITE_FAILURES = [
  "connection_failed",
  "incomplete",
  "rate_limited_by_site",
  "server_error",
  "site_changed",
  "too_many_redirects",
] as const satisfies readonly (FailureCode & ProblemCode)[]

/**
 * Failure codes of a lookup that took too long. A lookup is canceled if its caller has waited too
 * long.
 */
const TIMEOUT_FAILURES: ReadonlySet<FailureCode> = new Set([
  "canceled",
  "expired",
  "time_limit",
  "too_slow",
])

const CAPACITY_FAILURES: ReadonlySet<FailureCode> = new Set(["disk_full", "runner_lost"])

/** Error codes of responses to a metadata lookup. */
export const LOOKUP_PROBLEM_CODES: readonly ProblemCode[] = [
  ...SITE_FAILURES,
  "too_slow",
  "overloaded",
  "tool_missing",
]

/** Returns the error response for a metadata lookup without a result. */
export function metadataLookupProblem(job: Job | null): Problem {
  const code = job?.errorCode ?? "internal"
  const message = job?.errorMessage ?? "The lookup failed."
  if (CALLER_FAILURES.has(code)) return invalidFieldsProblem([{ field: "url", code, message }])
  const ofTheSite = SITE_FAILURES.find((siteCode) => siteCode === code)
  if (ofTheSite) return new Problem(ofTheSite, message)
  if (TIMEOUT_FAILURES.has(code)) return new Problem("too_slow", describeTimeout(job))
  if (CAPACITY_FAILURES.has(code)) return new Problem("overloaded", message)
  return new Problem("internal", "The lookup failed inside the service; try again.", {
    cause: message,
  })
}

function describeTimeout(job: Job | null): string {
  if (job?.startedAt === null) return "No runner was free in time; try again in a moment."
  return "The site did not send the metadata in time; try again, or fetch the video with POST /fetch."
}
