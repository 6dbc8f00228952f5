import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { copyAccount } from "../../storage/account-copies.ts"
import { directoryOf } from "../../storage/database.ts"
import { listUnconfirmed, removeUnconfirmed } from "../../storage/unconfirmed-users.ts"

/** Longer than a link to confirm an email is valid. */
const UNCONFIRMED_MS_MAX = 7 * 24 * 3_600_000
/** The copy of each account in another database takes three statements. */
const USERS_MAX = 50

/** Removes up to 50 users who did not confirm their email within a week. */
export async function removeOldUnconfirmed(env: Env, now: number): Promise<void> {
  const directory = directoryOf(env)
  const before = new Date(now - UNCONFIRMED_MS_MAX)
  const old = await listUnconfirmed(directory, before, USERS_MAX)
  if (old.length === 0) return
  await removeUnconfirmed(directory, old)
  for (const { accountId } of old) {
    await doOrLog("sweep.copy_failed", { account_id: accountId }, async () => {
      await copyAccount(env, accountId)
    })
  }
}
