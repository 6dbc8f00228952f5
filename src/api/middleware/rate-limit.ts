import { RATE_LIMIT_WINDOW_SECONDS } from "../../accounts/rate-limit/request-window.ts"
import type { RateLimitResult } from "../../bindings/rpc.ts"
import { Problem } from "../output/problem.ts"

/** Returns the rate limit headers of a response, by draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateLimitResult) {
  return {
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    "ratelimit-policy": `"requests";q=${limit};w=${RATE_LIMIT_WINDOW_SECONDS}`,
  }
}

/**
 * Throws 429 if the caller exceeded its rate limit. The message states how long to wait and how to
 * raise the limit.
 */
export function requireWithinRateLimit({
  allowed,
  caller,
  limit,
  resetSeconds,
}: RateLimitResult): void {
  if (allowed) return
  const subject = caller.key ? "a key" : "a user"
  throw new Problem(
    "rate_limit_exceeded",
    `The plan ${caller.account.plan} allows ${subject} ${limit} requests a minute; try again in ${resetSeconds} seconds, or ask the operator of this service for a larger plan.`,
    { retryAfterSeconds: resetSeconds, headers: { "retry-after": `${resetSeconds}` } },
  )
}
