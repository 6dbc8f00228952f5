import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { databaseOf } from "../../storage/database.ts"
import { findPlan } from "../../storage/tasks.ts"

/** A limit that was read so long ago is read again beside whatever asks for it. */
const FRESH_MS = 1_000

/**
 * How many jobs an account may have running. Only the first request waits for D1: whoever changes
 * a plan says so, and a limit that grew old is read again in the background.
 */
export function openPlanLimits(env: Env) {
  let known: { runningJobsMax: number; since: number } | null = null
  let timesForgotten = 0
  let isReading = false
  /** An answer that was under way while the plan was forgotten may be the old one. */
  async function read(accountId: string): Promise<number> {
    for (;;) {
      const [since, forgotten] = [Date.now(), timesForgotten]
      const plan = await findPlan(databaseOf(env, accountId))
      if (forgotten !== timesForgotten) continue
      const runningJobsMax = plan ? limitsOf(plan, settingsOf(env)).runningJobsMax : 1
      known = { runningJobsMax, since }
      return runningJobsMax
    }
  }
  async function readAgain(accountId: string): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      await read(accountId)
    } catch (error) {
      logError("dispatcher.plan_not_read", { error: String(error) })
    } finally {
      isReading = false
    }
  }
  return {
    forget(): void {
      known = null
      timesForgotten += 1
    },
    async runningJobsMax(accountId: string): Promise<number> {
      if (!known) return await read(accountId)
      if (Math.abs(Date.now() - known.since) >= FRESH_MS) void readAgain(accountId)
      return known.runningJobsMax
    },
  }
}
