import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import type { Limits } from "../../plans.ts"
import { databaseOf } from "../../storage/database.ts"
import { findPlan } from "../../storage/tasks.ts"

/** A limit that was read so long ago is read again beside whatever asks for it. */
const FRESH_MS = 1_000

/** The limits of a plan that concern slots. */
export type SlotLimits = Pick<Limits, "runningJobsMax" | "slotsShareMax">

const WITHOUT_ACCOUNT: SlotLimits = { runningJobsMax: 1, slotsShareMax: 0 }

/**
 * How many slots an account may want and hold. Only the first request waits for D1: whoever changes
 * a plan says so, and a limit that grew old is read again in the background.
 */
export function openPlanLimits(env: Env) {
  let known: { limits: SlotLimits; since: number } | null = null
  let timesForgotten = 0
  let isReading = false
  /** An answer that was under way while the plan was forgotten may be the old one. */
  async function readNew(accountId: string): Promise<SlotLimits> {
    for (;;) {
      const [since, forgotten] = [Date.now(), timesForgotten]
      const plan = await findPlan(databaseOf(env, accountId))
      if (forgotten !== timesForgotten) continue
      const limits = plan ? limitsOf(plan, settingsOf(env)) : WITHOUT_ACCOUNT
      known = { limits, since }
      return limits
    }
  }
  async function readAgain(accountId: string): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      await readNew(accountId)
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
    async read(accountId: string): Promise<SlotLimits> {
      if (!known) return await readNew(accountId)
      if (Math.abs(Date.now() - known.since) >= FRESH_MS) void readAgain(accountId)
      return known.limits
    },
  }
}
