import type { Allowance } from "../rpc.ts"
import { Problem } from "./problem.ts"

/** The window in which requests are counted. */
export const WINDOW_SECONDS = 60

/**
 * What an answer says of the allowance of its caller, as draft-ietf-httpapi-ratelimit-headers-10
 * has it.
 */
export function allowanceHeaders({ limit, remaining, resetSeconds }: Allowance) {
  return {
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    "ratelimit-policy": `"requests";q=${limit};w=${WINDOW_SECONDS}`,
  }
}

/** Throws where a caller asked too often, with when it may again and what raises the limit. */
export function requireAllowance({ allowed, caller, limit, resetSeconds }: Allowance): void {
  if (allowed) return
  const who = caller.key ? "a key" : "a user"
  throw new Problem(
    "rate_limit_exceeded",
    `The plan ${caller.account.plan} lets ${who} make ${limit} requests a minute; ask again in ${resetSeconds} seconds, or have the operator of this service give the account a larger plan.`,
    { retryAfterSeconds: resetSeconds, headers: { "retry-after": `${resetSeconds}` } },
  )
}
