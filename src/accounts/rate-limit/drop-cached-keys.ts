import type { Env } from "../../bindings/env.ts"
import { getRateLimiter } from "../../bindings/durable-objects.ts"
import { dropPrefetchedRequests } from "./prefetch.ts"

const AT_ONCE = 50
const KEYS_MAX = 500

/**
 * Makes the rate limiters of up to `KEYS_MAX` API keys read their keys from the database again.
 * Further limiters, and limiters that cannot be reached, use the cached key for at most a second.
 */
export async function dropCachedApiKeys(env: Env, hashes: readonly string[]): Promise<void> {
  dropPrefetchedRequests(hashes)
  for (let at = 0; at < Math.min(hashes.length, KEYS_MAX); at += AT_ONCE) {
    const some = hashes.slice(at, at + AT_ONCE)
    await Promise.allSettled(some.map((hash) => getRateLimiter(env, hash).forget()))
  }
}
