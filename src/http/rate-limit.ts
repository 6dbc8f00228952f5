import { DurableObject } from "cloudflare:workers"
import { createMiddleware } from "hono/factory"
import type { Env } from "../env.ts"
import type { App } from "./context.ts"
import { Problem } from "./problem.ts"

const WINDOW_SECONDS = 60

export type Allowance = { allowed: boolean; remaining: number; resetSeconds: number }

/** Counts one key's requests in windows of a minute, in memory: a restart forgives a minute. */
export class RateLimiter extends DurableObject<Env> {
  #windowEnds = 0
  #used = 0

  /** Takes one request from the key's allowance. */
  async take(limit: number): Promise<Allowance> {
    const now = Date.now()
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + WINDOW_SECONDS * 1000
      this.#used = 0
    }
    const resetSeconds = Math.ceil((this.#windowEnds - now) / 1000)
    if (this.#used >= limit) return { allowed: false, remaining: 0, resetSeconds }
    this.#used += 1
    return { allowed: true, remaining: limit - this.#used, resetSeconds }
  }
}

/** Refuses a key that asks more often than its plan allows, and says when it may ask again. */
export const limitRate = createMiddleware<App>(async (c, next) => {
  const limit = c.get("limits").requestsPerMinute
  const limiter = c.env.RATE_LIMITER.getByName(c.get("keyId"))
  const { allowed, remaining, resetSeconds } = await limiter.take(limit)
  const headers = {
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    "ratelimit-policy": `"requests";q=${limit};w=${WINDOW_SECONDS}`,
  }
  if (!allowed) {
    throw new Problem(
      "rate_limit_exceeded",
      `This key may make ${limit} requests a minute; ask again in ${resetSeconds} seconds.`,
      {
        retryAfterSeconds: resetSeconds,
        headers: { ...headers, "retry-after": `${resetSeconds}` },
      },
    )
  }
  await next()
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
})
