import type { FailureCode } from "../../contract/failure.ts"
import { Problem, unprocessables } from "../../http/problem.ts"
import type { ProblemCode } from "../../http/problem.ts"
import type { Job } from "../../storage/schema/jobs.ts"

/** What is wrong with the URL, so that its caller has to give another. */
const OF_THE_CALLER: ReadonlySet<FailureCode> = new Set([
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

/** What is wrong with the site, or on the way to it. */
const OF_THE_SITE = [
  "connection_failed",
  "incomplete",
  "rate_limited_by_site",
  "server_error",
  "site_changed",
  "too_many_redirects",
] as const satisfies readonly (FailureCode & ProblemCode)[]

/** It took longer than a caller waits; `canceled` is how such a lookup ends. */
const OF_TIME: ReadonlySet<FailureCode> = new Set(["canceled", "expired", "time_limit", "too_slow"])

const OF_CAPACITY: ReadonlySet<FailureCode> = new Set(["disk_full", "runner_lost"])

/** The errors that a lookup may be answered with. */
export const LOOKUP_PROBLEMS: readonly ProblemCode[] = [
  ...OF_THE_SITE,
  "too_slow",
  "overloaded",
  "tool_missing",
]

/** The answer to a lookup that found nothing. */
export function lookupProblem(job: Job | null): Problem {
  const code = job?.errorCode ?? "internal"
  const message = job?.errorMessage ?? "The lookup failed."
  if (OF_THE_CALLER.has(code)) return unprocessables([{ field: "url", code, message }])
  const ofTheSite = OF_THE_SITE.find((known) => known === code)
  if (ofTheSite) return new Problem(ofTheSite, message)
  if (OF_TIME.has(code)) return new Problem("too_slow", tooSlow(job))
  if (OF_CAPACITY.has(code)) return new Problem("overloaded", message)
  return new Problem("internal", "The lookup failed inside the service; try it again.", {
    cause: message,
  })
}

function tooSlow(job: Job | null): string {
  if (job?.startedAt === null) return "No runner was free in time; try it again in a moment."
  return "The site did not say in time what the video is; try it again, or fetch it with POST /fetch."
}
