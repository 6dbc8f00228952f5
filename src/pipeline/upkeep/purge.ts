import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import { dispatcherOf } from "../../placement.ts"
import {
  deleteAccountRow,
  deleteSomeDeliveries,
  deleteSomeJobs,
  deleteSomeRows,
  findLeft,
  listDeletedDue,
  postponePurge,
} from "../../storage/account-removal.ts"
import type { DeletedAccount, LeftOfAccount } from "../../storage/account-removal.ts"
import { databaseOf } from "../../storage/database.ts"
import type { AccountDatabases, Database } from "../../storage/database.ts"
import { accountPrefix, deleteSomeObjects } from "../../storage/objects.ts"
import { listUploadsBelow } from "../../storage/uploads.ts"
import { abandonUploads } from "../uploads/abandon.ts"

const HOUR_MS = 3_600_000
/**
 * Above UPLOAD_MS_MAX: what was let in before an account was deleted is over by then, and so are the
 * tries of its webhooks.
 */
const LATE_MS_MAX = 24 * HOUR_MS
/** A step that failed is made again after those that wait behind it. */
const RETRY_MS = 60_000
const WAIT_MS = { min: 5_000, max: 5 * 60_000 }

// What a step does at most; the sweep makes one of each of these accounts, and goes on the next time.
const ACCOUNTS_MAX = 3
const TICKS_MAX = 10
const ROUNDS_MAX = 4
const ROWS_MAX = 500
const UPLOADS_MAX = 16
const PAGES_MAX = 10

/** Goes on to remove what deleted accounts owned, and then the accounts themselves. */
export async function purgeAccounts(env: Env, directory: Database, now: number): Promise<void> {
  const due = await listDeletedDue(directory, { now, aheadMsMax: HOUR_MS, limit: ACCOUNTS_MAX })
  for (const account of due) {
    await doOrLog("sweep.purge_failed", { account_id: account.id }, async () => {
      await postponePurge(directory, account.id, now + RETRY_MS)
      await purgeAccount(env, databaseOf(env, account.id), account, now)
    })
  }
}

async function purgeAccount(
  env: Env,
  own: AccountDatabases,
  account: DeletedAccount,
  now: number,
): Promise<void> {
  const { id } = account
  const { sql: database, directory } = own
  const isLate = now - account.deletedAt >= LATE_MS_MAX
  const before = await cancelSome(env, database, id)
  // Jobs end by what is stored of them. One that cannot be ended keeps it for no longer than a day.
  if (before.openJobs && !isLate) return await postponePurge(directory, id, now)
  await removeSomeRows(database, id, isLate)
  await removeUploads(env, database, id)
  const left = await findLeft(database, id)
  const areObjectsGone = await removeSomeObjects(env.MEDIA, id, left)
  const isDone = !left.rows && areObjectsGone
  if (isDone && isLate && (await deleteAccountRow(own))) return
  await postponePurge(directory, id, nextStepAt(account, { now, isDone, left }))
}

/** Cancels jobs, some by each call of the dispatcher, which has an invocation of its own for each. */
async function cancelSome(env: Env, database: Database, id: string): Promise<LeftOfAccount> {
  for (let ticks = 0; ; ticks += 1) {
    const left = await findLeft(database, id)
    if (!left.openJobs || ticks === TICKS_MAX) return left
    await dispatcherOf(env, id).tick(id)
  }
}

async function removeSomeRows(database: Database, id: string, isLate: boolean): Promise<void> {
  const some = { limit: ROWS_MAX, isForced: isLate }
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { rows, deliveries } = await findLeft(database, id)
    if (rows) await deleteSomeJobs(database, id, some)
    if (rows) await deleteSomeRows(database, id, ROWS_MAX)
    const ended = deliveries ? await deleteSomeDeliveries(database, id, some) : 0
    if (!rows && ended < ROWS_MAX) return
  }
}

async function removeUploads(env: Env, database: Database, id: string): Promise<void> {
  const some = await listUploadsBelow(database, accountPrefix(id), UPLOADS_MAX)
  await abandonUploads(env, database, some, Date.now())
}

/** Webhooks that wait for a try keep what they are to send. */
async function removeSomeObjects(
  bucket: R2Bucket,
  id: string,
  { deliveries }: LeftOfAccount,
): Promise<boolean> {
  const prefix = accountPrefix(id)
  if (!deliveries) return await deleteSomeObjects(bucket, prefix, PAGES_MAX)
  const others = ["uploads/", "tasks/", "jobs/"].map((folder) => prefix + folder)
  const done = await Promise.all(
    others.map((folder) => deleteSomeObjects(bucket, folder, PAGES_MAX)),
  )
  return done.every(Boolean)
}

/**
 * What is gone is looked for again each hour, and a last time when nothing can come any more: a run
 * that was killed, or a request that was under way, may have stored something since.
 */
function nextStepAt(
  { deletedAt }: DeletedAccount,
  { now, isDone, left }: { now: number; isDone: boolean; left: LeftOfAccount },
): number {
  if (!isDone) return now
  // Most webhooks need one try; those that fail need hours.
  const waitMs = Math.ceil((now - deletedAt) / 4)
  if (left.deliveries) return now + Math.min(WAIT_MS.max, Math.max(WAIT_MS.min, waitMs))
  const lastAt = deletedAt + LATE_MS_MAX
  return lastAt > now ? Math.min(now + HOUR_MS, lastAt) : now + HOUR_MS
}
