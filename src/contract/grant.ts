/** Grants are moments, give or take a few; clocks of two machines may differ by so much. */
const AHEAD_MS_MAX = 24 * 3600 * 1000

/**
 * Whether a grant can be one of a pool whose clock is about right. One from far ahead would make all
 * that come after it late.
 */
export function isPlausibleGrant(grant: number, now: number): boolean {
  return grant <= now + AHEAD_MS_MAX
}

/**
 * Whether a word that carries a slot's grant comes too late: grants rise, and what was said under a
 * lower one belongs to whoever had the slot before. A highest one from far ahead is of a clock that
 * has been put right since, and counts no more.
 */
export function isLateGrant(of: { grant: number; highest: number; now: number }): boolean {
  return of.grant < of.highest && isPlausibleGrant(of.highest, of.now)
}
