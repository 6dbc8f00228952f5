import { PLAN_LIMIT_REMEDY } from "../../contract/plan-limit-remedy.ts"
import type { ExceededLimit } from "../../db/accounts/account-limits.ts"
import { Problem } from "./problem.ts"
import type { ProblemCode } from "./problem.ts"

/** Error codes of a create request that exceeds a limit of its account. */
export const LIMIT_PROBLEM_CODES = [
  "job_limit_exceeded",
  "fetch_limit_exceeded",
  "storage_limit_exceeded",
] as const satisfies readonly ProblemCode[]

/** Value of `Retry-After` in seconds for an account with too many waiting jobs. */
const JOBS_RETRY_SECONDS = 10
const DAY_MS = 24 * 3_600_000

/** Returns the error response for an exceeded account limit, with the usage and the remedy. */
export function exceededLimitProblem({ limit, allowed, used, asked }: ExceededLimit): Problem {
  if (limit === "storage_bytes") {
    const [more, reserved] =
      asked > 0
        ? [` with its unfinished uploads, the request would add ${asked}`, ", fetches or uploads"]
        : ["", " or fetches"]
    const message = `The account stores ${used} bytes${more}, and the plan allows ${allowed}: delete files${reserved}, or ${PLAN_LIMIT_REMEDY}.`
    return new Problem("storage_limit_exceeded", message)
  }
  if (limit === "waiting_jobs" && asked > 1 && asked > allowed) {
    const message = `The request creates ${asked} jobs, and the plan allows ${allowed} waiting jobs: send fewer jobs at once, or ${PLAN_LIMIT_REMEDY}.`
    return new Problem("job_limit_exceeded", message)
  }
  if (limit === "waiting_jobs") {
    const message = `The account has ${used} waiting jobs${asked > 1 ? `, the request creates ${asked} more` : ""}, and the plan allows ${allowed}: send the request again when some jobs have begun, cancel some, or ${PLAN_LIMIT_REMEDY}.`
    return laterProblem("job_limit_exceeded", message, JOBS_RETRY_SECONDS)
  }
  const seconds = Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1000)
  const message = `The account has imported ${used} media from URLs today, the request would import ${asked} more, and the plan allows ${allowed} a day (UTC): send the request again in ${seconds} seconds, or ${PLAN_LIMIT_REMEDY}.`
  return laterProblem("fetch_limit_exceeded", message, seconds)
}

function laterProblem(code: ProblemCode, message: string, retryAfterSeconds: number): Problem {
  const headers = { "retry-after": String(retryAfterSeconds) }
  return new Problem(code, message, { retryAfterSeconds, headers })
}
