import type { Env } from "../../env.ts"
import { limiterOf } from "../../placement.ts"
import { dropHeld } from "./held-requests.ts"

const AT_ONCE = 50
const KEYS_MAX = 500

/**
 * Has the rate limiters of keys look them up anew. One that cannot be reached knows its key for a
 * second only, and so do those beyond what one invocation may call.
 */
export async function forgetKeys(env: Env, hashes: readonly string[]): Promise<void> {
  dropHeld(hashes)
  for (let at = 0; at < Math.min(hashes.length, KEYS_MAX); at += AT_ONCE) {
    const some = hashes.slice(at, at + AT_ONCE)
    await Promise.allSettled(some.map((hash) => limiterOf(env, hash).forget()))
  }
}
