import type { Env } from "../../env.ts"
import type { Plan } from "../../plans.ts"
import { directoryOf } from "../../storage/database.ts"
import { listKeyHashes, setPlan } from "../../storage/keys.ts"
import type { Account } from "../../storage/schema/accounts.ts"

/**
 * Gives an account another plan, and tells those who hold its limits in memory; null where no
 * account has the name. Where it throws, the plan may be set already: calling it again is safe.
 */
export async function changePlan(
  env: Env,
  accountName: string,
  plan: Plan,
): Promise<Account | null> {
  const account = await setPlan(directoryOf(env), accountName, plan)
  if (account) await announcePlan(env, account.id)
  return account
}

/** Has the dispatcher and the rate limiters of an account read its plan anew. */
export async function announcePlan(env: Env, accountId: string): Promise<void> {
  await env.DISPATCHER.getByName(accountId).planChanged(accountId)
  const hashes = await listKeyHashes(directoryOf(env), accountId)
  // A limiter that cannot be reached knows its key for a moment only.
  await Promise.allSettled(hashes.map((hash) => env.RATE_LIMITER.getByName(hash).forget()))
}
