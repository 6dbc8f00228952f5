/** Allocation numbers are moments, give or take a few; clocks of two machines may differ by so much. */
const AHEAD_MS_MAX = 24 * 3600 * 1000

/**
 * Whether an allocation number can come from a pool whose clock is about right. One from far ahead
 * would make all that come after it late.
 */
export function isPlausibleAllocation(allocation: number, now: number): boolean {
  return allocation <= now + AHEAD_MS_MAX
}

/**
 * Whether a call that carries a slot's allocation number comes too late: the numbers rise, and a
 * call under a lower one belongs to whoever had the slot before. A highest number from far ahead
 * was made by a clock that has been corrected since, and does not count.
 */
export function isLateAllocation(of: {
  allocation: number
  highest: number
  now: number
}): boolean {
  return of.allocation < of.highest && isPlausibleAllocation(of.highest, of.now)
}
