import { configureLog } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { getSweeper } from "../bindings/durable-objects.ts"
import { countDatabases, openDirectory } from "../db/database.ts"
import { deleteOldDeadLetters } from "../db/dead-letters.ts"
import { deleteOldMailCounts } from "../db/accounts/mail-counts.ts"
import { removeOldSignInTries } from "../db/accounts/sign-in-tries.ts"
import { removeExpiredMailedLinks } from "../db/accounts/users.ts"
import { warnOfDatabaseSize } from "./database-size.ts"
import { awaitSweepChores } from "./run-chores.ts"
import { purgeDeletedAccounts } from "./purge.ts"
import {
  syncAccountCopy,
  syncPlanCopies,
  listOutdatedAccountCopies,
} from "../db/accounts/account-copies.ts"
import { listUnconfirmedUsers, removeUnconfirmedUsers } from "../db/accounts/unconfirmed-users.ts"

/**
 * Maximum number of accounts whose rows one sweep copies from the directory to their databases. The
 * copy of an account takes at most five D1 statements.
 */
const ACCOUNTS_MAX = 40

/** Copies accounts and plans again from the directory to the databases that missed a change. */
export async function repairAccountCopies(env: Env): Promise<void> {
  if (countDatabases(env) === 1) return
  await syncPlanCopies(env)
  for (const accountId of await listOutdatedAccountCopies(env, ACCOUNTS_MAX)) {
    await runOrLogError("sweep.copy_failed", { account_id: accountId }, async () => {
      await syncAccountCopy(env, accountId)
    })
  }
}

/**
 * Age from which an unconfirmed user is removed, in milliseconds. This age exceeds the validity of
 * a link that confirms an email address.
 */
const UNCONFIRMED_MS_MAX = 7 * 24 * 3_600_000
/**
 * Maximum number of users that one sweep removes. For each user, an update of the account's copy in
 * another database takes three D1 statements.
 */
const USERS_MAX = 50

/** Removes up to 50 users who did not confirm their email within a week. */
async function removeOldUnconfirmed(env: Env, now: number): Promise<void> {
  const directory = openDirectory(env)
  const before = new Date(now - UNCONFIRMED_MS_MAX)
  const old = await listUnconfirmedUsers(directory, before, USERS_MAX)
  if (old.length === 0) return
  await removeUnconfirmedUsers(directory, old)
  for (const { accountId } of old) {
    await runOrLogError("sweep.copy_failed", { account_id: accountId }, async () => {
      await syncAccountCopy(env, accountId)
    })
  }
}

/** Retention of dead letters, in milliseconds. */
const DEAD_LETTER_MS = 30 * 24 * 3_600_000
/**
 * Retention of failed sign-ins, in milliseconds. The retention exceeds the time window in which
 * failed sign-ins are counted.
 */
const TRIES_MS_MAX = 5 * 60_000

/**
 * Sweeps the directory, and each database in its own invocation, because D1 limits an invocation to
 * 1,000 statements. With `isStart`, `now` is the start of the service's only process, and callers'
 * uploads that began before this time are removed.
 */
export async function runSweep(
  env: Env,
  now: number,
  { isStart = false }: { isStart?: boolean } = {},
): Promise<void> {
  const databases = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  await Promise.all([
    sweepDirectory(env, now),
    ...databases.map((database) =>
      runOrLogError("sweep.database_failed", { database }, async () => {
        await getSweeper(env, database).sweepDatabase({ database, now, isStart })
      }),
    ),
  ])
}

/**
 * Removes old rows of the directory, copies accounts to other databases, and continues the removal
 * of deleted accounts.
 */
export async function sweepDirectory(env: Env, now: number): Promise<void> {
  configureLog(env)
  const directory = openDirectory(env)
  await awaitSweepChores([
    warnOfDatabaseSize(env),
    repairAccountCopies(env),
    purgeDeletedAccounts(env, directory, now),
    removeOldSignInTries(directory, now - TRIES_MS_MAX),
    removeExpiredMailedLinks(directory, new Date(now)),
    removeOldUnconfirmed(env, now),
    deleteOldMailCounts(directory, now),
    deleteOldDeadLetters(directory, now - DEAD_LETTER_MS),
  ])
}
