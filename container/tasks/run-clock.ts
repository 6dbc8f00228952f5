import { OTHER_PLAN } from "../../src/contract/other-plan.ts"
import type { ProgressDetail } from "../../src/contract/report.ts"
import type { RunContext } from "./run-context.ts"

/** The time that the tools of a run may take together, and how much of their work is done. */
export type RunClock = {
  /** What is left of the time, in milliseconds. */
  leftMs(): number
  /** Reports a share of the work, from 0 to 1, and how long the rest may take. */
  report(done: number): void
  /** Reports what a tool says of its work, whether its share is known or not. */
  tell(detail: ProgressDetail): void
  /** The sentence for a run that took longer. */
  describeLimit(): string
}

/** An estimate from less than this is not worth reporting. */
const ETA_FRACTION_MIN = 0.02
const ETA_SECONDS_MIN = 1
const PERCENT_BEFORE_END = 99

/**
 * Starts the clock of a run whose tools may run for so many seconds together; `what` is what may not
 * run longer, such as "the command".
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
    tell: (detail) => reporter.detail(detail),
    describeLimit() {
      const { plan } = order
      const whose =
        plan === undefined ? "" : ` on the ${plan} plan: do it in parts, or ${OTHER_PLAN}`
      return `It was stopped: ${what} may run for ${secondsMax} seconds${whose}.`
    },
  }
}
