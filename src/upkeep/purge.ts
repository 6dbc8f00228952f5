import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import {
  deleteAccountRow,
  deleteSomeDeliveries,
  deleteSomeJobs,
  deleteSomeRowsFromEachAccountTable,
  findRemainingAccountData,
  listAccountsToPurge,
  postponeAccountPurge,
} from "../db/accounts/account-removal.ts"
import type { DeletedAccount, RemainingAccountData } from "../db/accounts/account-removal.ts"
import { openAccountDatabases } from "../db/database.ts"
import type { AccountDatabases, Database } from "../db/database.ts"
import { deleteAllWebhookEndpoints } from "../db/webhook-endpoints.ts"
import { deleteObjectsBelowPrefix } from "../objects/objects.ts"
import { makeAccountKeyPrefix } from "../domain/object-keys.ts"
import { listUploadsWithPrefix } from "../db/files/uploads.ts"
import { writeBatchDeliveryBodies } from "../webhooks/batch-event.ts"
import { abortUploadsWithoutJob } from "../objects/abandon-upload.ts"

const HOUR_MS = 3_600_000
/**
 * Time after an account's deletion at which all its earlier requests and all tries of its webhooks
 * are over, in milliseconds. This time exceeds `UPLOAD_MS_MAX`.
 */
const LATE_MS_MAX = 24 * HOUR_MS
/**
 * Wait before a failed step of a removal is repeated, in milliseconds. Other accounts come first.
 */
const RETRY_MS = 60_000
const WAIT_MS = { min: 5_000, max: 5 * 60_000 }

// Bounds of one step of the removal of an account. Each sweep runs one step for each of at most
// `ACCOUNTS_MAX` accounts.
const ACCOUNTS_MAX = 3
const TICKS_MAX = 10
const ROUNDS_MAX = 4
const ROWS_MAX = 500
const UPLOADS_MAX = 16
const PAGES_MAX = 10

/**
 * Continues the removal of deleted accounts. Removes the data of each account first, and then the
 * account itself.
 */
export async function purgeDeletedAccounts(
  env: Env,
  directory: Database,
  now: number,
): Promise<void> {
  const due = await listAccountsToPurge(directory, { now, limit: ACCOUNTS_MAX })
  for (const account of due) {
    await runOrLogError("sweep.purge_failed", { account_id: account.id }, async () => {
      await postponeAccountPurge(directory, account.id, now + RETRY_MS)
      await purgeAccount(env, openAccountDatabases(env, account.id), account, now)
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
  // Keeps the account's rows while jobs are open, because the end of a job needs these rows. After
  // a day, removes the rows anyway, because a job may be impossible to end.
  if (before.openJobs && !isLate) return await postponeAccountPurge(directory, id, now)
  // Writes the bodies of batch webhooks before the jobs' rows are removed, because the bodies
  // contain the records of the jobs.
  const isAnyUnwritten = !isLate && (await writeBatchDeliveryBodies(env, own))
  if (isAnyUnwritten) return await postponeAccountPurge(directory, id, now)
  await removeSomeRows(database, id, isLate)
  await removeUploads(env, database, id)
  const remains = await findRemainingAccountData(database, id)
  // Keeps endpoints while webhooks wait, because the secret of an endpoint still signs these
  // webhooks.
  if (!remains.deliveries) await deleteAllWebhookEndpoints(database, id)
  const areObjectsGone = await removeSomeObjects(env.MEDIA, id, remains)
  const isDone = !remains.rows && areObjectsGone
  if (isDone && isLate && (await deleteAccountRow(own))) return
  await postponeAccountPurge(directory, id, nextStepAt(account, { now, isDone, left: remains }))
}

/**
 * Cancels open jobs of the account by calls to `tick` of its dispatcher, because each call is an
 * invocation with its own D1 statements. Returns the types of data that the account still has.
 */
async function cancelSome(env: Env, database: Database, id: string): Promise<RemainingAccountData> {
  for (let ticks = 0; ; ticks += 1) {
    const remains = await findRemainingAccountData(database, id)
    if (!remains.openJobs || ticks === TICKS_MAX) return remains
    await getDispatcher(env, id).tick(id)
  }
}

async function removeSomeRows(database: Database, id: string, isLate: boolean): Promise<void> {
  const some = { limit: ROWS_MAX, isForced: isLate }
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { rows, deliveries } = await findRemainingAccountData(database, id)
    if (rows) await deleteSomeJobs(database, id, some)
    if (rows) await deleteSomeRowsFromEachAccountTable(database, id, ROWS_MAX)
    const deletedCount = deliveries ? await deleteSomeDeliveries(database, id, some) : 0
    if (!rows && deletedCount < ROWS_MAX) return
  }
}

async function removeUploads(env: Env, database: Database, id: string): Promise<void> {
  const some = await listUploadsWithPrefix(database, makeAccountKeyPrefix(id), UPLOADS_MAX)
  await abortUploadsWithoutJob(env, database, some, Date.now())
}

/**
 * Deletes objects of an account, except bodies of webhooks that will be tried again. Returns true
 * if no object remains.
 */
async function removeSomeObjects(
  bucket: R2Bucket,
  id: string,
  { deliveries }: RemainingAccountData,
): Promise<boolean> {
  const prefix = makeAccountKeyPrefix(id)
  if (!deliveries) return await deleteObjectsBelowPrefix(bucket, prefix, PAGES_MAX)
  const others = ["uploads/", "tasks/", "jobs/"].map((folder) => prefix + folder)
  const done = await Promise.all(
    others.map((folder) => deleteObjectsBelowPrefix(bucket, folder, PAGES_MAX)),
  )
  return done.every(Boolean)
}

/**
 * Returns the time of the next step. An account without data is checked again each hour, because a
 * killed run or an open request may store data meanwhile. The last check comes when all runs and
 * requests are over.
 */
function nextStepAt(
  { deletedAt }: DeletedAccount,
  { now, isDone, left }: { now: number; isDone: boolean; left: RemainingAccountData },
): number {
  if (!isDone) return now
  // The wait grows with the age of the deletion. Most webhooks need one try, and failing webhooks
  // need hours.
  const waitMs = Math.ceil((now - deletedAt) / 4)
  if (left.deliveries) return now + Math.min(WAIT_MS.max, Math.max(WAIT_MS.min, waitMs))
  const lastAt = deletedAt + LATE_MS_MAX
  return lastAt > now ? Math.min(now + HOUR_MS, lastAt) : now + HOUR_MS
}
