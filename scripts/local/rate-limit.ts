// Run in workerd as the module that makes a rate limit binding: the platform's interface, counted in
// the memory of this isolate.

/** Beyond so many keys in a period the oldest ones are forgotten. */
const KEYS_MAX = 100_000

/** A binding that lets `limit` pass for a key in each period of so many seconds. */
export function makeBinding({ limit, period }: { limit: number; period: number }) {
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
