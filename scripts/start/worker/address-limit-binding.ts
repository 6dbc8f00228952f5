// This module makes a rate limit binding in workerd. The binding has the interface of Cloudflare's
// binding, and keeps its counts in memory.

/**
 * Maximum number of keys that are counted in a period. Above this number, the oldest keys are
 * dropped.
 */
const KEYS_MAX = 100_000

/** Makes a binding that permits `limit` calls per key in each period of `period` seconds. */
export function makeRateLimitBinding({ limit, period }: { limit: number; period: number }) {
  const counts = new Map<string, number>()
  let current = 0
  return {
    async limit({
      key,
      delta = 1,
    }: {
      key: string
      delta?: number
    }): Promise<{ success: boolean }> {
      const now = Math.floor(Date.now() / (period * 1000))
      if (now !== current) counts.clear()
      current = now
      const count = counts.get(key) ?? 0
      if (count >= limit) return { success: false }
      counts.set(key, count + delta)
      const [oldest] = counts.size > KEYS_MAX ? counts.keys() : []
      if (oldest !== undefined) counts.delete(oldest)
      return { success: true }
    },
  }
}
