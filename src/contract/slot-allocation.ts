/**
 * Largest plausible difference between the clocks of two machines, in milliseconds. Allocation
 * numbers are timestamps.
 */
const AHEAD_MS_MAX = 24 * 3600 * 1000

/**
 * Reports whether a pool with a roughly correct clock can have issued an allocation number. A
 * number from the far future is not plausible: after its acceptance, the slot would refuse all
 * numbers of the pool as stale.
 */
export function isPlausibleAllocationNumber(allocation: number, now: number): boolean {
  return allocation <= now + AHEAD_MS_MAX
}

/**
 * Largest plausible lead of a slot request's number over the clock, in milliseconds. Each
 * dispatcher numbers its slot requests by timestamps.
 */
const REQUEST_AHEAD_MS_MAX = 60_000

/**
 * Returns the number of the next slot request, which is above `last` and at least the current time.
 */
export function computeNextSlotRequestNumber(last: number, now: number): number {
  return isPlausibleRequest(last, now) ? Math.max(last + 1, now) : now
}

/**
 * Reports whether a slot request is stale, because a request with the same or a higher number has
 * arrived already. A `known` number from the far future comes from a wrong clock and is ignored.
 */
export function isStaleSlotRequest(of: { number: number; known: number; now: number }): boolean {
  return of.number <= of.known && isPlausibleRequest(of.known, of.now)
}

function isPlausibleRequest(number: number, now: number): boolean {
  return number <= now + REQUEST_AHEAD_MS_MAX
}

/**
 * Reports whether an allocation number is stale. The allocation numbers of a slot rise, so a lower
 * number belongs to a previous owner of the slot. A `highest` number from the far future comes from
 * a wrong clock and is ignored.
 */
export function isStaleAllocationNumber(of: {
  allocation: number
  highest: number
  now: number
}): boolean {
  return of.allocation < of.highest && isPlausibleAllocationNumber(of.highest, of.now)
}
