/** How much of each thing there was, by names as `d1.trips`; those that are not there are 0. */
export type Counts = Record<string, number>

/** Where a service that counts says what it has counted. */
export const COUNTS_PATH = "/bench/counts"

/** What came to earlier counts until later ones. */
export function countsSince(earlier: Counts, later: Counts): Counts {
  return Object.fromEntries(
    Object.entries(later).map(([name, value]) => [name, value - (earlier[name] ?? 0)]),
  )
}

/** The sum of the counts whose names a pattern fits. */
export function sumOf(counts: Counts, names: RegExp): number {
  return Object.entries(counts).reduce(
    (sum, [name, value]) => sum + (names.test(name) ? value : 0),
    0,
  )
}
