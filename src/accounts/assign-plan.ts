import type { Env } from "../bindings/env.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { syncAccountCopy } from "../db/accounts/account-copies.ts"
import { openDirectory } from "../db/database.ts"
import { setPlanByAccountId } from "../db/accounts/account-list.ts"
import { listApiKeyHashes, setPlanByAccountName } from "../db/accounts/keys.ts"
import type { Account } from "../db/schema/accounts.ts"
import { dropCachedApiKeys } from "./rate-limit/drop-cached-keys.ts"

/**
 * Sets the plan of the account with a name, and notifies the Durable Objects that cache the
 * account's limits. Returns null if the account or the plan does not exist. A call that throws may
 * be repeated, even if the plan is already set.
 */
export async function assignPlanByAccountName(
  env: Env,
  accountName: string,
  plan: string,
): Promise<Account | null> {
  const account = await setPlanByAccountName(openDirectory(env), accountName, plan)
  if (account) await refreshCachedPlan(env, account.id)
  return account
}

/**
 * Sets the plan of the account with an id, and notifies the Durable Objects that cache the
 * account's limits. Returns false if the account or the plan does not exist.
 */
export async function assignPlanByAccountId(
  env: Env,
  accountId: string,
  plan: string,
): Promise<boolean> {
  if (!(await setPlanByAccountId(openDirectory(env), accountId, plan))) return false
  await refreshCachedPlan(env, accountId)
  return true
}

/**
 * Makes the Durable Objects of an account read its plan again after a change: the dispatcher, which
 * queues the account's tasks, and the rate limiters.
 */
export async function refreshCachedPlan(env: Env, accountId: string): Promise<void> {
  await syncAccountCopy(env, accountId)
  await getDispatcher(env, accountId).planChanged(accountId)
  await dropCachedApiKeys(env, await listApiKeyHashes(openDirectory(env), accountId))
}
