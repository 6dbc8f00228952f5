import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { syncAccountCopy } from "../db/accounts/account-copies.ts"
import { markAccountDeleted } from "../db/accounts/account-removal.ts"
import { openDirectory } from "../db/database.ts"
import { dropCachedApiKeys } from "./rate-limit/drop-cached-keys.ts"

/**
 * Begins the deletion of an account with all its data. Returns false if the account does not exist.
 * Invalidates the account's API keys and sessions, releases the account's name and its users'
 * emails, and begins to cancel open jobs. The sweep removes the other data step by step
 * (src/upkeep/purge.ts). A failed call may be repeated.
 */
export async function beginAccountDeletion(env: Env, accountId: string): Promise<boolean> {
  const hashes = await markAccountDeleted(openDirectory(env), accountId, Date.now())
  if (hashes === null) return false
  await dropCachedApiKeys(env, hashes)
  await syncAccountCopy(env, accountId)
  await runOrLogError("account.cancel_failed", { account_id: accountId }, async () => {
    await getDispatcher(env, accountId).tick(accountId)
  })
  return true
}
