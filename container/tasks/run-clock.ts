import { PLAN_LIMIT_REMEDY } from "../../src/contract/plan-limit-remedy.ts"
import type { ProgressDetail } from "../../src/contract/report.ts"
import type { RunContext } from "./run-context.ts"

/** Time limit and progress that the tools of a run share. */
export type RunClock = {
  /** Returns the remaining time of the run, in milliseconds. */
  leftMs(): number
  /**
   * Reports which share of the work is done, from 0 to 1, with an estimate of the remaining time.
   */
  report(done: number): void
  /**
   * Reports details of a tool's progress, such as the current frame. They may be known even if the
   * share is not.
   */
  reportDetail(detail: ProgressDetail): void
  /** Returns the error sentence for a run that exceeded its time limit. */
  describeLimit(): string
}

/**
 * Share of the work and time in seconds that must have passed before the remaining time is
 * estimated.
 */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

/**
 * Starts the clock of a run whose tools may take `secondsMax` seconds together. `what` names the
 * work in error sentences, such as "the command".
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
