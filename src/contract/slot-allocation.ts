/**
 * Largest plausible difference between the clocks of two machines, in milliseconds. An allocation
 * gives a slot, which runs one task at a time, to one task. Its number is a timestamp.
 */
const AHEAD_MS_MAX = 24 * 3600 * 1000

/**
 * Reports whether an allocation number is plausible, which means not in the far future. If a slot
 * accepted a number from a wrong clock, it would refuse all correct numbers as stale.
 */
export function isPlausibleAllocationNumber(allocation: number, now: number): boolean {
  return allocation <= now + AHEAD_MS_MAX
}

/**
 * Largest plausible lead of a slot request's number over the clock, in milliseconds. A dispatcher,
 * which queues the tasks of an account, uses timestamps as the numbers of its slot requests.
 */
const REQUEST_AHEAD_MS_MAX = 60_000

/**
 * Returns the number of the next slot request: the current time, but at least one more than the
 * last number. Ignores a last number that a wrong clock put far into the future.
 */
export function computeNextSlotRequestNumber(last: number, now: number): number {
  return isPlausibleRequest(last, now) ? Math.max(last + 1, now) : now
}

/**
 * Reports whether a slot request is stale, because a request with the same or a higher number
 * (`known`) has arrived before. A `known` number from the far future comes from a wrong clock, so
 * that it makes no request stale.
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
 * a wrong clock, so that it makes no number stale.
 */
export function isStaleAllocationNumber(of: {
  allocation: number
  highest: number
  now: number
}): boolean {
  return of.allocation < of.highest && isPlausibleAllocationNumber(of.highest, of.now)
}
