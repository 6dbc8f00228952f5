import { makeBoundedCache } from "../../platform/bounded-cache.ts"
import type { PrefetchGrant } from "../../bindings/rpc.ts"

/** Requests of an API key that the rate limiter granted to this isolate in advance. */
export type PrefetchedRequests = {
  granted: PrefetchGrant
  /** Number of granted requests not used yet, which need no call of the rate limiter. */
  left: number
  /** Time at which the grant expires, in milliseconds since the epoch. */
  until: number
}

const KEYS_MAX = 10_000
/**
 * Time in milliseconds for which a grant stays stored after its expiry, until its unused requests
 * have been returned to the rate limiter. Every grant is valid for a shorter time.
 */
const KEPT_MS = 10_000

const prefetches = makeBoundedCache<PrefetchedRequests>(KEYS_MAX)
let timesForgotten = 0

/**
 * Returns the requests that the rate limiter granted in advance to the key with this hash, even if
 * the grant has expired; null without a grant.
 */
export function findPrefetchedRequests(hash: string): PrefetchedRequests | null {
  return prefetches.get(hash)
}

/**
 * Returns a counter that increases whenever prefetched requests are dropped. A caller compares the
 * counter before and after its call of the rate limiter, to detect a drop during the call.
 */
export function readPrefetchDropCount(): number {
  return timesForgotten
}

/**
 * Adds a grant of the rate limiter to the unused requests of an earlier grant. Returns null if
 * prefetched requests were dropped since the limiter was called.
 */
export function storePrefetchedRequests(
  hash: string,
  granted: PrefetchGrant,
  requestTimes: { at: number; moment: number },
): PrefetchedRequests | null {
  if (requestTimes.moment !== timesForgotten) return null
  const until = requestTimes.at + granted.moreMs
  const earlier = prefetches.get(hash)
  const remaining = (earlier && earlier.until > Date.now() ? earlier.left : 0) + granted.more
  const prefetch = { granted, left: remaining, until }
  prefetches.set(hash, prefetch, until + KEPT_MS)
  return prefetch
}

/** Drops the requests that were granted in advance to API keys which have changed. */
export function dropPrefetchedRequests(hashes: readonly string[]): void {
  timesForgotten += 1
  for (const hash of hashes) prefetches.delete(hash)
}
