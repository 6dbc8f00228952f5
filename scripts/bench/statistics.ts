/** Returns the median of numbers. Throws if there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const low = sorted[Math.floor((sorted.length - 1) / 2)]
  const high = sorted[Math.ceil((sorted.length - 1) / 2)]
  if (low === undefined || high === undefined) throw new Error("the sample is empty")
  return (low + high) / 2
}

/**
 * Returns the quantile of numbers: the value below which the given share of them lies. Returns 0
 * without numbers.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Runs `work` a number of times, one run after the other. Returns all results. */
export async function runRepeatedly<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let time = 0; time < times; time += 1) results.push(await work())
  return results
}

/**
 * Runs two measurements alternately, and returns the median of each. Results of warm-up rounds are
 * ignored.
 */
export async function measureAlternatingMedians(
  rounds: { warmUp: number; counted: number },
  measure: () => Promise<number>,
  measureReference: () => Promise<number>,
): Promise<{ measured: number; reference: number }> {
  async function measureBoth() {
    return { measured: await measure(), reference: await measureReference() }
  }
  await runRepeatedly(rounds.warmUp, measureBoth)
  const all = await runRepeatedly(rounds.counted, measureBoth)
  return {
    measured: median(all.map(({ measured }) => measured)),
    reference: median(all.map(({ reference }) => reference)),
  }
}

/**
 * Runs all measurements in each round, and begins each round with the next measurement in turn.
 * Returns a function from the name of a measurement to its median. Results of warm-up rounds are
 * ignored.
 */
export async function measureMediansInRotation<Name extends string>(
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

/** Runs `work`. Returns the duration of the work in milliseconds. */
export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
