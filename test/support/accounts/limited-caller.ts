import { env } from "cloudflare:workers"
import { PLAN_LIMITS } from "../../../src/domain/plans.ts"
import type { PlanLimits } from "../../../src/domain/plans.ts"
import { findCallerAccountId } from "../media/bundle.ts"
import { makeCaller } from "../caller.ts"

/** Creates an account with its own plan: the trial plan with the given limits. */
export async function makeLimitedCaller(account: string, limits: Partial<PlanLimits>) {
  const caller = await makeCaller(account)
  const accountId = await findCallerAccountId(caller)
  const plan = `plan of ${account}`
  const own = JSON.stringify({ ...PLAN_LIMITS.trial, runSecondsMax: 300, ...limits })
  await env.DB.batch([
    env.DB.prepare("insert into plans values (?, ?, 0, 0)").bind(plan, own),
    env.DB.prepare("update accounts set plan = ? where id = ?").bind(plan, accountId),
  ])
  return { ...caller, accountId, plan }
}

/**
 * Changes limits of a plan that `makeLimitedCaller` created. The change applies to API keys that
 * the service reads from the database afterwards.
 */
export async function changeLimitsOfPlan(plan: string, limits: Partial<PlanLimits>): Promise<void> {
  const own = JSON.stringify(limits)
  await env.DB.prepare("update plans set limits = json_patch(limits, ?) where name = ?")
    .bind(own, plan)
    .run()
}
