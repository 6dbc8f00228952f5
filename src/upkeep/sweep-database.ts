import { configureLog, getRetention, getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import type { DatabaseSweep } from "../bindings/rpc.ts"
import { formatUtcDay } from "../db/accounts/account-limits.ts"
import { openDatabaseByNumber } from "../db/database.ts"
import type { Database } from "../db/database.ts"
import { deleteExpiredBatches } from "../db/batches.ts"
import { listDueDeliveries } from "../db/deliveries.ts"
import { deleteExpiredIdempotencyKeys } from "../db/jobs/idempotency.ts"
import { removeFetchedMedia } from "../db/files/fetched-media.ts"
import {
  deleteEndedDeliveries,
  deleteFinishedJobs,
  deleteOldMetadataLookups,
  removeExpiredJobs,
} from "../db/jobs/job-removal.ts"
import { listUnacceptedTasks } from "../db/jobs/jobs.ts"
import { listOldMetadataLookups } from "../db/jobs/metadata-lookups.ts"
import { deleteOldOutages } from "../db/receiver-outages.ts"
import { isFinalState } from "../domain/states.ts"
import { deleteLeftoverTaskSecrets } from "../db/jobs/task-secrets.ts"
import { listAbandonedUploads, listSingleRequestUploads } from "../db/files/uploads.ts"
import { deleteExpiredUploadLinks } from "../db/files/upload-links.ts"
import { deleteOldUsage } from "../db/accounts/usage.ts"
import type { JobMessage } from "../scheduler/enqueue.ts"
import { cancelJob } from "../jobs/cancel.ts"
import { abortUploadsWithoutJob } from "../objects/abandon-upload.ts"
import { removeExpiredTusUploads } from "../objects/tus-object.ts"
import { enqueueDelivery } from "../webhooks/outbox.ts"
import { awaitSweepChores } from "./run-chores.ts"
import { collectGarbage } from "../objects/collect-garbage.ts"
import { alertOwnersOfFailingReceivers } from "./receiver-alerts.ts"
import { tickDispatchersWithOpenJobs } from "./tick-dispatchers.ts"
import { repeatUntilDone } from "../platform/repeat-until-done.ts"

const DAY_MS = 24 * 3_600_000
/**
 * Age from which an upload counts as abandoned, in milliseconds. This age exceeds `UPLOAD_MS_MAX`,
 * so that no upload in progress is removed.
 */
const ABANDONED_MS = DAY_MS
const ACCEPT_MS_MAX = 30_000
const ROWS_MAX = 100
/**
 * Maximum number of old metadata lookups whose open jobs one sweep cancels. Each cancellation takes
 * about eight D1 statements.
 */
const LOOKUPS_MAX = 20
/** Time in days for which the daily usage of accounts is kept. */
const USAGE_DAYS_MAX = 400
const MEDIA_MAX = 1000
/**
 * Age from which a metadata lookup is removed, in milliseconds. The age exceeds the time for which
 * a result is reused and the time for which a caller waits.
 */
const LOOKUP_MS_MAX = 5 * 60_000

/**
 * Finds work in one database whose calls and messages were lost, and removes expired rows and
 * objects. Uses at most 1,000 D1 statements, the limit of an invocation.
 */
export async function sweepDatabase(
  env: Env,
  { database: number, now, isStart }: DatabaseSweep,
): Promise<void> {
  configureLog(env)
  const { fetchedMs } = getRetention(env)
  const rowsMs = getSettings(env).JOB_DAYS_MAX * DAY_MS
  const database = openDatabaseByNumber(env, number)
  await awaitSweepChores([
    collectGarbage(env, database, now),
    resendJobMessages(env, database, now),
    tickDispatchersWithOpenJobs(env, database, now),
    resendDeliveryMessages(env, database, now),
    repeatUntilDone(async () => {
      const expired = { now, limit: ROWS_MAX }
      return (await removeExpiredTusUploads(env, database, expired)) === ROWS_MAX
    }),
    deleteExpiredUploadLinks(database, now - DAY_MS),
    removeAbandonedUploads(env, database, now),
    ...(isStart ? [removeOwnUploads(env, database, now)] : []),
    deleteExpiredIdempotencyKeys(database, now),
    repeatUntilDone(async () => await deleteFinishedJobs(database, now - rowsMs)),
    removeExpired(env, database, now),
    repeatUntilDone(async () => {
      const expired = { now, endedBefore: now - rowsMs, limit: ROWS_MAX }
      return await deleteExpiredBatches(database, expired)
    }),
    alertOwnersOfFailingReceivers(env, database, now),
    repeatUntilDone(async () => await deleteEndedDeliveries(database, now - rowsMs)),
    deleteOldOutages(database, now - rowsMs),
    removeOldMedia(database, now - fetchedMs, now),
    deleteOldUsage(database, formatUtcDay(now - USAGE_DAYS_MAX * DAY_MS)),
    deleteLeftoverTaskSecrets(database, ROWS_MAX),
    removeLookups(env, database, now - LOOKUP_MS_MAX),
  ])
}

/** Sends JOBS messages for jobs whose message and call to the dispatcher were lost. */
async function resendJobMessages(env: Env, database: Database, now: number): Promise<void> {
  const unaccepted = await listUnacceptedTasks(database, now - ACCEPT_MS_MAX, ROWS_MAX)
  for (const { accountId, task } of unaccepted) {
    await runOrLogError("sweep.job_message_failed", { task_id: task.id }, async () => {
      // Marks each task as blocked, even if its inputs may be ready, so that the dispatcher reads
      // from D1 whether they are.
      const tasks = [{ ...task, blocked: true }]
      await env.JOBS.send({ accountId, tasks } satisfies JobMessage)
    })
  }
}

async function resendDeliveryMessages(env: Env, database: Database, now: number): Promise<void> {
  for (const { accountId, deliveryId } of await listDueDeliveries(database, now, ROWS_MAX)) {
    await enqueueDelivery(env, { accountId, deliveryId })
  }
}

/**
 * Removes expired jobs with their stored data. If the service limits retention, also removes all
 * jobs that ended before the limit.
 */
async function removeExpired(env: Env, database: Database, now: number): Promise<void> {
  const { retentionMsMax } = getRetention(env)
  const endedBefore = retentionMsMax === null ? null : now - retentionMsMax
  await repeatUntilDone(async () => await removeExpiredJobs(database, { now, endedBefore }))
}

async function removeOldMedia(database: Database, before: number, now: number): Promise<void> {
  const some = { before, now, limit: MEDIA_MAX }
  await repeatUntilDone(async () => (await removeFetchedMedia(database, some)) === MEDIA_MAX)
}

/** Removes finished lookups with their jobs. Cancels open lookups, which the next sweep removes. */
async function removeLookups(env: Env, database: Database, before: number): Promise<void> {
  for (const { accountId, jobId, state } of await listOldMetadataLookups(
    database,
    before,
    LOOKUPS_MAX,
  )) {
    if (state === null || isFinalState(state)) continue
    await runOrLogError("sweep.lookup_failed", { job_id: jobId }, async () => {
      await cancelJob(env, accountId, jobId)
    })
  }
  await repeatUntilDone(async () => await deleteOldMetadataLookups(database, before))
}

async function removeAbandonedUploads(env: Env, database: Database, now: number): Promise<void> {
  const abandoned = await listAbandonedUploads(database, now - ABANDONED_MS, ROWS_MAX)
  await abortUploadsWithoutJob(env, database, abandoned, now)
}

/**
 * Removes uploads of callers that began before `now`, the start of the Worker's only process. The
 * process that received these uploads no longer exists.
 */
async function removeOwnUploads(env: Env, database: Database, now: number): Promise<void> {
  await repeatUntilDone(async () => {
    const own = await listSingleRequestUploads(database, now, ROWS_MAX)
    await abortUploadsWithoutJob(env, database, own, now)
    return own.length === ROWS_MAX
  })
}
