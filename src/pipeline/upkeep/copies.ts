import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { copyAccount, copyPlans, listUncopied } from "../../storage/account-copies.ts"
import { countDatabases } from "../../storage/database.ts"

/** Each takes five statements at most. */
const ACCOUNTS_MAX = 40

/** Copies what the directory says of accounts and plans to where a change of it was not copied. */
export async function mendCopies(env: Env): Promise<void> {
  if (countDatabases(env) === 1) return
  await copyPlans(env)
  for (const accountId of await listUncopied(env, ACCOUNTS_MAX)) {
    await doOrLog("sweep.copy_failed", { account_id: accountId }, async () => {
      await copyAccount(env, accountId)
    })
  }
}
