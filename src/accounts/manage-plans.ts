import { getSettings } from "../bindings/env.ts"
import { computeEffectiveLimits } from "../bindings/plan-limits.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { BUILT_IN_PLANS, isBuiltInPlan } from "../domain/plans.ts"
import type { PlanLimits, OperatorPlanLimits } from "../domain/plans.ts"
import { syncPlanCopies } from "../db/accounts/account-copies.ts"
import { openAllDatabases, openDirectory } from "../db/database.ts"
import {
  countAccountsByPlan,
  deletePlan,
  findOperatorPlan,
  insertPlan,
  listAccountIdsWithOpenJobsOfPlan,
  listOperatorPlans,
  updatePlan,
} from "../db/accounts/plans.ts"

/**
 * Maximum number of dispatchers (the Durable Objects that queue an account's tasks) that a change
 * of a plan notifies at once. Other dispatchers read the plan with their next task.
 */
const TOLD_MAX = 200

/**
 * Plan with the limits that apply to its accounts. Settings of the service may replace the plan's
 * own limits, or bound them.
 */
export type ListedPlan = {
  name: string
  limits: PlanLimits
  isBuiltIn: boolean
  accountCount: number
  updatedAt: number | null
}

/** Returns all plans: the built-in plans, then the operator's plans by name. */
export async function listPlans(env: Env): Promise<ListedPlan[]> {
  const database = openDirectory(env)
  const [own, counts] = await Promise.all([
    listOperatorPlans(database),
    countAccountsByPlan(database),
  ])
  const values = getSettings(env)
  const builtIn = BUILT_IN_PLANS.map((name) => ({ name, limits: null, updatedAt: null }))
  return [...builtIn, ...own].map(({ name, limits, updatedAt }) => ({
    name,
    limits: computeEffectiveLimits({ plan: name, ownLimits: limits }, values),
    isBuiltIn: limits === null,
    accountCount: counts.get(name) ?? 0,
    updatedAt,
  }))
}

/** Returns the names of all plans, in the order of `listPlans`. */
export async function listPlanNames(env: Env): Promise<string[]> {
  const own = await listOperatorPlans(openDirectory(env))
  return [...BUILT_IN_PLANS, ...own.map(({ name }) => name)]
}

/** Reports whether a plan exists. */
export async function planExists(env: Env, name: string): Promise<boolean> {
  return isBuiltInPlan(name) || (await findOperatorPlan(openDirectory(env), name)) !== null
}

/** Creates a plan for the operator. Returns false if a plan has the same name. */
export async function createPlan(
  env: Env,
  name: string,
  limits: OperatorPlanLimits,
): Promise<boolean> {
  const isMade = await insertPlan(openDirectory(env), { name, limits, now: Date.now() })
  if (isMade) await syncPlanCopies(env)
  return isMade
}

/**
 * Changes the limits of a plan that the operator created. Returns false if there is no such plan.
 * Rate limiters cache the old limits for at most a second. Dispatchers of accounts with open jobs
 * are notified.
 */
export async function changePlanLimits(
  env: Env,
  name: string,
  limits: OperatorPlanLimits,
): Promise<boolean> {
  const database = openDirectory(env)
  if (!(await updatePlan(database, { name, limits, now: Date.now() }))) return false
  await syncPlanCopies(env)
  const lists = await Promise.all(
    openAllDatabases(env).map((each) => listAccountIdsWithOpenJobsOfPlan(each, name, TOLD_MAX)),
  )
  const busy = lists.flat().slice(0, TOLD_MAX)
  await Promise.all(
    busy.map((accountId) =>
      runOrLogError("plan.dispatcher_not_told", { account_id: accountId }, async () => {
        await getDispatcher(env, accountId).planChanged(accountId)
      }),
    ),
  )
  return true
}

/**
 * Deletes a plan that the operator created. Returns `used` and keeps the plan if an account or an
 * invitation has the plan.
 */
export async function removePlan(env: Env, name: string): Promise<"removed" | "used" | "absent"> {
  const database = openDirectory(env)
  if (await deletePlan(database, name)) {
    await syncPlanCopies(env)
    return "removed"
  }
  return (await findOperatorPlan(database, name)) === null ? "absent" : "used"
}
