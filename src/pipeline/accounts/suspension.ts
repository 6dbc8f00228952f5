import type { Env } from "../../env.ts"
import { copyAccount } from "../../storage/account-copies.ts"
import { setSuspendedAt } from "../../storage/account-list.ts"
import { directoryOf } from "../../storage/database.ts"
import { listKeyHashes } from "../../storage/keys.ts"
import { forgetKeys } from "./limiters.ts"

/**
 * Suspends an account: its keys and users are refused within a second, and what it had accepted goes
 * on. One that is suspended stays so. False where there is no such account.
 */
export async function suspendAccount(env: Env, accountId: string): Promise<boolean> {
  return await change(env, accountId, Date.now())
}

/** Lifts the suspension of an account; false where there is no such account. */
export async function resumeAccount(env: Env, accountId: string): Promise<boolean> {
  return await change(env, accountId, null)
}

async function change(env: Env, accountId: string, suspendedAt: number | null): Promise<boolean> {
  const database = directoryOf(env)
  if (!(await setSuspendedAt(database, accountId, suspendedAt))) return false
  await copyAccount(env, accountId)
  await forgetKeys(env, await listKeyHashes(database, accountId))
  return true
}
