/** Counts of operations by names such as `d1.trips`. A missing name means 0. */
export type OperationCounts = Record<string, number>

/** Path at which a service that counts its operations returns the counts. */
export const OPERATION_COUNTS_PATH = "/bench/counts"

/** Returns the differences between later and earlier counts. */
export function subtractOperationCounts(
  earlier: OperationCounts,
  later: OperationCounts,
): OperationCounts {
  return Object.fromEntries(
    Object.entries(later).map(([name, value]) => [name, value - (earlier[name] ?? 0)]),
  )
}

/** Returns the sum of the counts whose names match a pattern. */
export function sumOperationCounts(counts: OperationCounts, names: RegExp): number {
  return Object.entries(counts).reduce(
    (sum, [name, value]) => sum + (names.test(name) ? value : 0),
    0,
  )
}
