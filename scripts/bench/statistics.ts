/** The median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const low = sorted[Math.floor((sorted.length - 1) / 2)]
  const high = sorted[Math.ceil((sorted.length - 1) / 2)]
  if (low === undefined || high === undefined) throw new Error("there is nothing to take from")
  return (low + high) / 2
}

/** The value below which this share of some numbers lies; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Does work this many times, one after the other, and returns all results. */
export async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let time = 0; time < times; time += 1) results.push(await work())
  return results
}

/** Medians of two measurements that alternate, after some rounds that do not count. */
export async function compareMedians(
  rounds: { warmUp: number; counted: number },
  measure: () => Promise<number>,
  measureReference: () => Promise<number>,
): Promise<{ measured: number; reference: number }> {
  async function measureBoth() {
    return { measured: await measure(), reference: await measureReference() }
  }
  await repeat(rounds.warmUp, measureBoth)
  const all = await repeat(rounds.counted, measureBoth)
  return {
    measured: median(all.map(({ measured }) => measured)),
    reference: median(all.map(({ reference }) => reference)),
  }
}

/**
 * Measurements that take turns at being the first of a round, after some rounds that do not count;
 * answers the median of each by its name.
 */
export async function rotateMedians<Name extends string>(
  { warmUp, counted }: { warmUp: number; counted: number },
  measures: Record<Name, () => Promise<number>>,
): Promise<(name: Name) => number> {
  const entries = Object.entries<() => Promise<number>>(measures)
  const found = new Map<string, number[]>(entries.map(([name]) => [name, []]))
  for (let round = 0; round < warmUp + counted; round += 1) {
    const turn = round % entries.length
    for (const [name, measure] of [...entries.slice(turn), ...entries.slice(0, turn)]) {
      const value = await measure()
      if (round >= warmUp) found.get(name)?.push(value)
    }
  }
  return (name) => median(found.get(name) ?? [])
}

/** Runs work and returns how long it took, in milliseconds. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
