import { getRateLimiter } from "../../bindings/durable-objects.ts"
import {
  findPrefetchedRequests,
  storePrefetchedRequests,
  readPrefetchDropCount,
} from "../../accounts/rate-limit/prefetch.ts"
import type { PrefetchedRequests } from "../../accounts/rate-limit/prefetch.ts"
import { makeBoundedCache } from "../../platform/bounded-cache.ts"
import type {
  RateLimitResult,
  RateLimitRequest,
  UnusedPrefetchedRequests,
} from "../../bindings/rpc.ts"
import type { AppContext } from "../context.ts"

// Prefetches rate limit grants for busy API keys: the rate limiter grants some requests in advance,
// so that not every request calls its Durable Object. A grant expires after at most a second.

const KEYS_MAX = 10_000
const SECOND_MS = 1000
/**
 * Minimum number of requests within a second that makes an API key busy. Busy keys get grants in
 * advance.
 */
const BUSY_REQUESTS_MIN = 20
const PREFETCH_SIZE = 32

type Rate = { since: number; count: number; before: number }
const rates = makeBoundedCache<Rate>(KEYS_MAX)

/**
 * Counts one request against the rate limit of the API key with this hash. Returns null if no valid
 * key has the hash.
 */
export async function consumeRateLimit(
  c: AppContext,
  hash: string,
): Promise<RateLimitResult | null> {
  const isBusy = countRequest(hash)
  const changes = isWriteRequest(c)
  const granted = consumePrefetched(hash)
  if (!granted) return await requestGrant(c, hash, { changes, wanted: isBusy ? PREFETCH_SIZE : 0 })
  if (changes && !granted.hasChanged) noteChange(c, hash)
  return granted
}

/** Reports whether the method of a request may change data. */
export function isWriteRequest({ req: { method } }: AppContext): boolean {
  return method !== "GET" && method !== "HEAD"
}

/**
 * Informs the rate limiter, once for each grant, that a request writes to the database. Later reads
 * by the API key then avoid read replicas.
 */
function noteChange(c: AppContext, hash: string): void {
  const grant = findPrefetchedRequests(hash)
  if (grant) grant.granted.hasChanged = true
  c.executionCtx.waitUntil(getRateLimiter(c.env, hash).noteChange())
}

async function requestGrant(
  c: AppContext,
  hash: string,
  more: Omit<RateLimitRequest, "unused">,
): Promise<RateLimitResult | null> {
  const unused = takeUnused(findPrefetchedRequests(hash))
  const start = { at: Date.now(), moment: readPrefetchDropCount() }
  const granted = await getRateLimiter(c.env, hash).take(hash, { ...more, unused })
  if (!granted) return null
  // A concurrent request may have received a grant during the call; use its requests first.
  if (!granted.allowed) return consumePrefetched(hash) ?? granted
  if (granted.more === 0) return granted
  const grant = storePrefetchedRequests(hash, granted, start)
  c.executionCtx.waitUntil(
    grant
      ? giveBackLater(c, hash, granted.moreMs)
      : getRateLimiter(c.env, hash).giveBack({ count: granted.more, grantedAt: granted.grantedAt }),
  )
  return { ...granted, remaining: granted.remaining + (grant?.left ?? granted.more) }
}

function consumePrefetched(hash: string): RateLimitResult | null {
  const grant = findPrefetchedRequests(hash)
  const now = Date.now()
  if (!grant || grant.left <= 0 || grant.until <= now) return null
  grant.left -= 1
  const { granted } = grant
  const resetSeconds = Math.max(0, Math.ceil((granted.windowEndsAt - now) / SECOND_MS))
  return { ...granted, remaining: granted.remaining + grant.left, resetSeconds }
}

/** Takes the unused requests of an expired grant, which the caller returns to the rate limiter. */
function takeUnused(prefetch: PrefetchedRequests | null): UnusedPrefetchedRequests | null {
  if (!prefetch || prefetch.left <= 0 || prefetch.until > Date.now()) return null
  const unused = { count: prefetch.left, grantedAt: prefetch.granted.grantedAt }
  prefetch.left = 0
  return unused
}

/** Returns the unused requests of a grant to the rate limiter once the grant has expired. */
async function giveBackLater(c: AppContext, hash: string, afterMs: number): Promise<void> {
  await scheduler.wait(afterMs + 1)
  const unused = takeUnused(findPrefetchedRequests(hash))
  if (unused) await getRateLimiter(c.env, hash).giveBack(unused)
}

/** Counts a request of an API key, and reports whether the key is busy. */
function countRequest(hash: string): boolean {
  const now = Date.now()
  const rate = rates.get(hash)
  const ageMs = rate ? now - rate.since : Infinity
  if (!rate || ageMs < 0 || ageMs >= 2 * SECOND_MS) {
    rates.set(hash, { since: now, count: 1, before: 0 }, now + 2 * SECOND_MS)
    return false
  }
  if (ageMs >= SECOND_MS) {
    const next = { since: rate.since + SECOND_MS, count: 1, before: rate.count }
    rates.set(hash, next, next.since + 2 * SECOND_MS)
    return next.before >= BUSY_REQUESTS_MIN
  }
  rate.count += 1
  return rate.count >= BUSY_REQUESTS_MIN || rate.before >= BUSY_REQUESTS_MIN
}
