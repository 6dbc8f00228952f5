import { PLAN_LIMIT_REMEDY } from "../../src/contract/plan-limit-remedy.ts"
import type { ProgressDetail } from "../../src/contract/report.ts"
import type { RunContext } from "./run-context.ts"

/** Clock of a run: the time limit and the progress that all tools of the run share. */
export type RunClock = {
  /** Returns the remaining time of the run, in milliseconds. */
  leftMs(): number
  /**
   * Reports the progress of the run to the Worker, with an estimate of the remaining time. `done`
   * is the finished share of the work, from 0 to 1.
   */
  report(done: number): void
  /**
   * Reports details of a tool's progress to the Worker, such as the number of frames. Details may
   * be known even if the finished share of the work is unknown.
   */
  reportDetail(detail: ProgressDetail): void
  /** Returns the error sentence for a run that exceeded its time limit. */
  describeLimit(): string
}

/**
 * Minimum finished share of the work, and minimum elapsed time in seconds. Below either minimum, no
 * remaining time is estimated.
 */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

/**
 * Starts the clock of a run. All tools of the run together may take `secondsMax` seconds. `what`
 * names the work in error sentences, for example "the command".
 */
export function startRunClock(
  { order, reporter }: RunContext,
  { secondsMax, what }: { secondsMax: number; what: string },
): RunClock {
  const startedMs = performance.now()
  return {
    leftMs: () => secondsMax * 1000 - (performance.now() - startedMs),
    report(done) {
      const seconds = (performance.now() - startedMs) / 1000
      const hasEta = done >= ETA_FRACTION_MIN && seconds >= ETA_SECONDS_MIN
      const etaSeconds = hasEta ? Math.round((seconds * (1 - done)) / done) : null
      reporter.progress(Math.min(done * 100, PERCENT_BEFORE_END), etaSeconds)
    },
    reportDetail: (detail) => reporter.detail(detail),
    describeLimit() {
      const { plan } = order
      const planAdvice =
        plan === undefined ? "" : ` on the ${plan} plan: divide the work, or ${PLAN_LIMIT_REMEDY}`
      return `The work was stopped: ${what} may run for ${secondsMax} seconds${planAdvice}.`
    },
  }
}
