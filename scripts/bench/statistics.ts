/** The middle of some numbers; the mean of the two in the middle where they are even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const low = sorted[Math.floor((sorted.length - 1) / 2)]
  const high = sorted[Math.ceil((sorted.length - 1) / 2)]
  if (low === undefined || high === undefined) throw new Error("there is nothing to take from")
  return (low + high) / 2
}

/** Runs work and answers how long it took, in milliseconds. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
