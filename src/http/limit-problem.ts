import { OTHER_PLAN } from "../contract/other-plan.ts"
import type { Exceeded } from "../storage/account-limits.ts"
import { Problem } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"

/** What a create is answered that exceeds a limit of its account. */
export const LIMIT_PROBLEMS = [
  "job_limit_exceeded",
  "fetch_limit_exceeded",
  "storage_limit_exceeded",
] as const satisfies readonly ProblemCode[]

/** Waiting jobs begin whenever a runner is free. */
const JOBS_RETRY_SECONDS = 10
const DAY_MS = 24 * 3_600_000

/** The answer to what would exceed a limit of its account: what is used, and how to lift it. */
export function limitProblem({ limit, allowed, used, asked }: Exceeded): Problem {
  if (limit === "storage_bytes") {
    const more = asked > 0 ? `, this would add ${asked}` : ""
    const message = `The account stores ${used} bytes${more}, and its plan allows ${allowed}: delete files or fetches, or ${OTHER_PLAN}.`
    return new Problem("storage_limit_exceeded", message)
  }
  if (limit === "waiting_jobs") {
    const message = `The account has ${used} jobs that wait, and its plan allows ${allowed}: send it again when some of them have begun, cancel some, or ${OTHER_PLAN}.`
    return laterProblem("job_limit_exceeded", message, JOBS_RETRY_SECONDS)
  }
  const seconds = Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1000)
  const message = `The account has brought in ${used} media from URLs today, this would bring in ${asked} more, and its plan allows ${allowed} on a day (UTC): send it again in ${seconds} seconds, or ${OTHER_PLAN}.`
  return laterProblem("fetch_limit_exceeded", message, seconds)
}

function laterProblem(code: ProblemCode, message: string, retryAfterSeconds: number): Problem {
  const headers = { "retry-after": String(retryAfterSeconds) }
  return new Problem(code, message, { retryAfterSeconds, headers })
}
