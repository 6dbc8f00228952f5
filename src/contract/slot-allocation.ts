/** Allocation numbers are moments, give or take a few; clocks of two machines may differ by so much. */
const AHEAD_MS_MAX = 24 * 3600 * 1000

/**
 * Whether an allocation number can come from a pool whose clock is about right. One from far ahead
 * would make all that come after it late.
 */
export function isPlausibleAllocation(allocation: number, now: number): boolean {
  return allocation <= now + AHEAD_MS_MAX
}

/** Requests for slots are numbered by moments too; one dispatcher makes them, seconds apart. */
const REQUEST_AHEAD_MS_MAX = 60_000

/** The number of the request that comes after another: it rises, and counts on from now. */
export function nextRequestNumber(last: number, now: number): number {
  return isPlausibleRequest(last, now) ? Math.max(last + 1, now) : now
}

/**
 * Whether a request comes after a later one. A number from far ahead was made by a clock that has
 * been corrected since, and makes none late.
 */
export function isLateRequest(of: { number: number; known: number; now: number }): boolean {
  return of.number <= of.known && isPlausibleRequest(of.known, of.now)
}

function isPlausibleRequest(number: number, now: number): boolean {
  return number <= now + REQUEST_AHEAD_MS_MAX
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
