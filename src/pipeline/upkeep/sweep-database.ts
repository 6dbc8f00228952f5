import { prepareLog, retentionOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { doOrLog } from "../../log.ts"
import type { SweptDatabase } from "../../rpc.ts"
import { dayOf } from "../../storage/account-limits.ts"
import { databaseAt } from "../../storage/database.ts"
import type { Database } from "../../storage/database.ts"
import { listDueDeliveries } from "../../storage/deliveries.ts"
import { deleteExpiredIdempotency } from "../../storage/idempotency.ts"
import { removeFetchedMedia } from "../../storage/fetched-media.ts"
import {
  deleteEndedDeliveries,
  deleteFinishedJobs,
  deleteOldLookups,
  removeExpired,
} from "../../storage/job-removal.ts"
import { listUnaccepted } from "../../storage/jobs.ts"
import { listOldLookups } from "../../storage/metadata-lookups.ts"
import { deleteOldOutages } from "../../storage/receiver-outages.ts"
import { isFinal } from "../../storage/schema/states.ts"
import { deleteLeftSecrets } from "../../storage/task-secrets.ts"
import { listAbandoned, listOwnUploads } from "../../storage/uploads.ts"
import { deleteOldUsage } from "../../storage/usage.ts"
import type { JobMessage } from "../dispatch/enqueue.ts"
import { cancelJob } from "../jobs/cancel.ts"
import { abandonUploads } from "../uploads/abandon.ts"
import { enqueueDelivery } from "../webhooks/outbox.ts"
import { doAll } from "./do-all.ts"
import { collectGarbage } from "./garbage.ts"
import { tellOfOutages } from "./receiver-alerts.ts"
import { tickDispatchers } from "./tick-dispatchers.ts"
import { untilDone } from "./until-done.ts"

const DAY_MS = 24 * 3_600_000
/** Above UPLOAD_MS_MAX, so that none is removed that is still on its way. */
const ABANDONED_MS = DAY_MS
const ACCEPT_MS_MAX = 30_000
const ROWS_MAX = 100
/** Each takes some eight statements. */
const LOOKUPS_MAX = 20
/** What accounts used is kept for so long. */
const USAGE_DAYS_MAX = 400
const MEDIA_MAX = 1000
/** Longer than a lookup answers for its URL, and than anybody waits for one. */
const LOOKUP_MS_MAX = 5 * 60_000

/**
 * Finds whatever messages and objects lost of one database, and puts it on its way again; removes rows
 * whose time is over. Takes 1,000 statements at most, as many as D1 takes of an invocation.
 */
export async function sweepDatabase(
  env: Env,
  { database: number, now, isStart }: SweptDatabase,
): Promise<void> {
  prepareLog(env)
  const { fetchedMs } = retentionOf(env)
  const rowsMs = settingsOf(env).JOB_DAYS_MAX * DAY_MS
  const database = databaseAt(env, number)
  await doAll([
    collectGarbage(env, database, now),
    resendJobMessages(env, database, now),
    tickDispatchers(env, database, now),
    resendDeliveryMessages(env, database, now),
    removeAbandonedUploads(env, database, now),
    ...(isStart ? [removeOwnUploads(env, database, now)] : []),
    deleteExpiredIdempotency(database, now),
    untilDone(async () => await deleteFinishedJobs(database, now - rowsMs)),
    removeExpiredJobs(env, database, now),
    tellOfOutages(env, database, now),
    untilDone(async () => await deleteEndedDeliveries(database, now - rowsMs)),
    deleteOldOutages(database, now - rowsMs),
    removeOldMedia(database, now - fetchedMs, now),
    deleteOldUsage(database, dayOf(now - USAGE_DAYS_MAX * DAY_MS)),
    deleteLeftSecrets(database, ROWS_MAX),
    removeLookups(env, database, now - LOOKUP_MS_MAX),
  ])
}

/** Jobs whose message and call were lost. */
async function resendJobMessages(env: Env, database: Database, now: number): Promise<void> {
  const unaccepted = await listUnaccepted(database, now - ACCEPT_MS_MAX, ROWS_MAX)
  for (const { accountId, task, ...planned } of unaccepted) {
    await doOrLog("sweep.job_message_failed", { task_id: task.id }, async () => {
      // The dispatcher reads again whether its inputs have come.
      const tasks = [{ ...task, pool: poolOfTask(planned), blocked: true }]
      await env.JOBS.send({ accountId, tasks } satisfies JobMessage)
    })
  }
}

async function resendDeliveryMessages(env: Env, database: Database, now: number): Promise<void> {
  for (const { accountId, deliveryId } of await listDueDeliveries(database, now, ROWS_MAX)) {
    await enqueueDelivery(env, { accountId, deliveryId })
  }
}

/** Jobs whose time is over, and all where nothing is kept for longer, with what they stored. */
async function removeExpiredJobs(env: Env, database: Database, now: number): Promise<void> {
  const { retentionMsMax } = retentionOf(env)
  const endedBefore = retentionMsMax === null ? null : now - retentionMsMax
  await untilDone(async () => await removeExpired(database, { now, endedBefore }))
}

async function removeOldMedia(database: Database, before: number, now: number): Promise<void> {
  const some = { before, now, limit: MEDIA_MAX }
  await untilDone(async () => (await removeFetchedMedia(database, some)) === MEDIA_MAX)
}

/** Lookups that are over go with their jobs; one that nobody ended is, and goes the next time. */
async function removeLookups(env: Env, database: Database, before: number): Promise<void> {
  for (const { accountId, jobId, state } of await listOldLookups(database, before, LOOKUPS_MAX)) {
    if (state === null || isFinal(state)) continue
    await doOrLog("sweep.lookup_failed", { job_id: jobId }, async () => {
      await cancelJob(env, accountId, jobId)
    })
  }
  await untilDone(async () => await deleteOldLookups(database, before))
}

async function removeAbandonedUploads(env: Env, database: Database, now: number): Promise<void> {
  const abandoned = await listAbandoned(database, now - ABANDONED_MS, ROWS_MAX)
  await abandonUploads(env, database, abandoned, now)
}

/** Removes what callers were sending to a process that is gone. */
async function removeOwnUploads(env: Env, database: Database, now: number): Promise<void> {
  await untilDone(async () => {
    const own = await listOwnUploads(database, now, ROWS_MAX)
    await abandonUploads(env, database, own, now)
    return own.length === ROWS_MAX
  })
}
