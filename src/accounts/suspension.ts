import type { Env } from "../bindings/env.ts"
import { syncAccountCopy } from "../db/accounts/account-copies.ts"
import { setAccountSuspendedAt } from "../db/accounts/account-list.ts"
import { openDirectory } from "../db/database.ts"
import { listApiKeyHashes } from "../db/accounts/keys.ts"
import { dropCachedApiKeys } from "./rate-limit/drop-cached-keys.ts"

/**
 * Suspends an account. Requests of the account's keys and users are refused within a second.
 * Accepted jobs continue. An account that is already suspended keeps its time of suspension.
 * Returns false if the account does not exist.
 */
export async function suspendAccount(env: Env, accountId: string): Promise<boolean> {
  return await change(env, accountId, Date.now())
}

/** Ends the suspension of an account. Returns false if the account does not exist. */
export async function resumeAccount(env: Env, accountId: string): Promise<boolean> {
  return await change(env, accountId, null)
}

async function change(env: Env, accountId: string, suspendedAt: number | null): Promise<boolean> {
  const database = openDirectory(env)
  if (!(await setAccountSuspendedAt(database, accountId, suspendedAt))) return false
  await syncAccountCopy(env, accountId)
  await dropCachedApiKeys(env, await listApiKeyHashes(database, accountId))
  return true
}
