import type { Env } from "../../env.ts"
import { dispatcherOf } from "../../placement.ts"
import { copyAccount } from "../../storage/account-copies.ts"
import { directoryOf } from "../../storage/database.ts"
import { setPlanOf } from "../../storage/account-list.ts"
import { listKeyHashes, setPlan } from "../../storage/keys.ts"
import type { Account } from "../../storage/schema/accounts.ts"
import { forgetKeys } from "./limiters.ts"

/**
 * Gives an account another plan, and tells those who hold its limits in memory; null where no
 * account has the name, or the plan is gone. Where it throws, the plan may be set already: calling it again is safe.
 */
export async function changePlan(
  env: Env,
  accountName: string,
  plan: string,
): Promise<Account | null> {
  const account = await setPlan(directoryOf(env), accountName, plan)
  if (account) await announcePlan(env, account.id)
  return account
}

/** The same of an account by its id; false where there is none. */
export async function changePlanOf(env: Env, accountId: string, plan: string): Promise<boolean> {
  if (!(await setPlanOf(directoryOf(env), accountId, plan))) return false
  await announcePlan(env, accountId)
  return true
}

/** Has the dispatcher and the rate limiters of an account read its plan anew. */
export async function announcePlan(env: Env, accountId: string): Promise<void> {
  await copyAccount(env, accountId)
  await dispatcherOf(env, accountId).planChanged(accountId)
  await forgetKeys(env, await listKeyHashes(directoryOf(env), accountId))
}
