import { prepareLog } from "../../env.ts"
import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { sweeperOf } from "../../placement.ts"
import { countDatabases, directoryOf } from "../../storage/database.ts"
import { deleteOldDeadLetters } from "../../storage/dead-letters.ts"
import { deleteOldMailCounts } from "../../storage/mail-counts.ts"
import { removeOldTries } from "../../storage/sign-in-tries.ts"
import { removeExpiredLinks } from "../../storage/users.ts"
import { removeOldUnconfirmed } from "../accounts/unconfirmed.ts"
import { mendCopies } from "./copies.ts"
import { tellOfDatabase } from "./database-size.ts"
import { doAll } from "./do-all.ts"
import { purgeAccounts } from "./purge.ts"

/** How long a message that nobody could take is kept. */
const DEAD_LETTER_MS = 30 * 24 * 3_600_000
/** Longer than tries to sign in are counted. */
const TRIES_MS_MAX = 5 * 60_000

/**
 * Sweeps the directory, and has each database swept in an invocation of its own, since D1 takes 1,000
 * statements of one. With `isStart`, `now` is when the only process of the Worker began: what an earlier
 * one was storing then is on its way no more.
 */
export async function sweep(
  env: Env,
  now: number,
  { isStart = false }: { isStart?: boolean } = {},
): Promise<void> {
  const databases = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  await Promise.all([
    sweepDirectory(env, now),
    ...databases.map((database) =>
      doOrLog("sweep.database_failed", { database }, async () => {
        await sweeperOf(env, database).sweepDatabase({ database, now, isStart })
      }),
    ),
  ])
}

/** Removes what is old in the directory, and goes on with what is due of accounts. */
export async function sweepDirectory(env: Env, now: number): Promise<void> {
  prepareLog(env)
  const directory = directoryOf(env)
  await doAll([
    tellOfDatabase(env),
    mendCopies(env),
    purgeAccounts(env, directory, now),
    removeOldTries(directory, now - TRIES_MS_MAX),
    removeExpiredLinks(directory, new Date(now)),
    removeOldUnconfirmed(env, now),
    deleteOldMailCounts(directory, now),
    deleteOldDeadLetters(directory, now - DEAD_LETTER_MS),
  ])
}
