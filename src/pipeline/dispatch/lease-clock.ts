import { LEASE_MS } from "../../contract/protocol.ts"

/**
 * Judges the clock from one check of the leases to the next: where it was set, or the machine slept,
 * nobody could renew a lease meanwhile.
 */
export function openLeaseClock(): { isOff(now: number): boolean } {
  let before: number | null = null
  return {
    isOff(now) {
      const sinceMs = now - (before ?? now)
      before = now
      return sinceMs < 0 || sinceMs > LEASE_MS
    },
  }
}
