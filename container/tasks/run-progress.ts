import type { RunContext } from "./run-context.ts"

/** An estimate from less than this is not worth reporting. */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

/** Opens the progress of a run that begins now; fractions from 0 to 1 are reported with an estimate. */
export function openRunProgress({
  reporter,
}: Pick<RunContext, "reporter">): (fraction: number) => void {
  const startedMs = performance.now()
  return (fraction) => {
    const seconds = (performance.now() - startedMs) / 1000
    const hasEta = fraction >= ETA_FRACTION_MIN && seconds >= ETA_SECONDS_MIN
    const etaSeconds = hasEta ? Math.round((seconds * (1 - fraction)) / fraction) : null
    reporter.progress(Math.min(fraction * 100, PERCENT_BEFORE_END), etaSeconds)
  }
}
