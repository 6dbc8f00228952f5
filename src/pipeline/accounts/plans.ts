import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import { BUILT_IN_PLANS, isBuiltInPlan } from "../../plans.ts"
import type { Limits, OwnLimits } from "../../plans.ts"
import { copyPlans } from "../../storage/account-copies.ts"
import { databasesOf, directoryOf } from "../../storage/database.ts"
import {
  countAccountsOfPlans,
  deletePlan,
  findOwnPlan,
  insertPlan,
  listBusyAccountsOfPlan,
  listOwnPlans,
  updatePlan,
} from "../../storage/plans.ts"

/** Dispatchers that are told of a change at once; others hear of it with what they do next. */
const TOLD_MAX = 200

/** A plan with the numbers that count, those of settings included. */
export type ListedPlan = {
  name: string
  limits: Limits
  isBuiltIn: boolean
  accountCount: number
  updatedAt: number | null
}

/** All plans: those that every service has, and the operator's own by name. */
export async function listPlans(env: Env): Promise<ListedPlan[]> {
  const database = directoryOf(env)
  const [own, counts] = await Promise.all([listOwnPlans(database), countAccountsOfPlans(database)])
  const values = settingsOf(env)
  const builtIn = BUILT_IN_PLANS.map((name) => ({ name, limits: null, updatedAt: null }))
  return [...builtIn, ...own].map(({ name, limits, updatedAt }) => ({
    name,
    limits: limitsOf({ plan: name, ownLimits: limits }, values),
    isBuiltIn: limits === null,
    accountCount: counts.get(name) ?? 0,
    updatedAt,
  }))
}

/** The names of all plans, in the same order. */
export async function listPlanNames(env: Env): Promise<string[]> {
  const own = await listOwnPlans(directoryOf(env))
  return [...BUILT_IN_PLANS, ...own.map(({ name }) => name)]
}

/** Whether accounts can be given a plan. */
export async function isPlan(env: Env, name: string): Promise<boolean> {
  return isBuiltInPlan(name) || (await findOwnPlan(directoryOf(env), name)) !== null
}

/** Makes a plan of the operator's own; false where there is one of the name. */
export async function createPlan(env: Env, name: string, limits: OwnLimits): Promise<boolean> {
  const isMade = await insertPlan(directoryOf(env), { name, limits, now: Date.now() })
  if (isMade) await copyPlans(env)
  return isMade
}

/**
 * Changes a plan of the operator's own; false where there is none of the name. Rate limiters know
 * the old numbers for a second; dispatchers of accounts that have jobs to do are told.
 */
export async function changeLimits(env: Env, name: string, limits: OwnLimits): Promise<boolean> {
  const database = directoryOf(env)
  if (!(await updatePlan(database, { name, limits, now: Date.now() }))) return false
  await copyPlans(env)
  const lists = await Promise.all(
    databasesOf(env).map((each) => listBusyAccountsOfPlan(each, name, TOLD_MAX)),
  )
  const busy = lists.flat().slice(0, TOLD_MAX)
  await Promise.all(
    busy.map((accountId) =>
      doOrLog("plan.dispatcher_not_told", { account_id: accountId }, async () => {
        await dispatcherOf(env, accountId).planChanged(accountId)
      }),
    ),
  )
  return true
}

/** Deletes a plan of the operator's own that no account has and no invitation names. */
export async function removePlan(env: Env, name: string): Promise<"removed" | "used" | "absent"> {
  const database = directoryOf(env)
  if (await deletePlan(database, name)) {
    await copyPlans(env)
    return "removed"
  }
  return (await findOwnPlan(database, name)) === null ? "absent" : "used"
}
