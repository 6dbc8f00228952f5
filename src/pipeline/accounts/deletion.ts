import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import { copyAccount } from "../../storage/account-copies.ts"
import { markDeleted } from "../../storage/account-removal.ts"
import { directoryOf } from "../../storage/database.ts"
import { forgetKeys } from "./limiters.ts"

/**
 * Deletes an account with everything that it owns; false where there is none. From here on its keys
 * and sessions count no more and its name and its users' addresses are free; its open jobs are
 * canceled, and the sweep removes the rest step by step (src/pipeline/upkeep/purge.ts). Where it
 * throws, calling it again is safe.
 */
export async function deleteAccount(env: Env, accountId: string): Promise<boolean> {
  const hashes = await markDeleted(directoryOf(env), accountId, Date.now())
  if (hashes === null) return false
  await forgetKeys(env, hashes)
  await copyAccount(env, accountId)
  await doOrLog("account.cancel_failed", { account_id: accountId }, async () => {
    await dispatcherOf(env, accountId).tick(accountId)
  })
  return true
}
