import { prepareLog, retentionOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { doOrLog, logError } from "../../log.ts"
import { dayOf } from "../../storage/account-limits.ts"
import { databasesOf, directoryOf } from "../../storage/database.ts"
import type { Database } from "../../storage/database.ts"
import { deleteOldDeadLetters } from "../../storage/dead-letters.ts"
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
import { deleteOldMailCounts } from "../../storage/mail-counts.ts"
import { listOldLookups } from "../../storage/metadata-lookups.ts"
import { deleteOldOutages } from "../../storage/receiver-outages.ts"
import { isFinal } from "../../storage/schema/states.ts"
import { removeOldTries } from "../../storage/sign-in-tries.ts"
import { deleteLeftSecrets } from "../../storage/task-secrets.ts"
import type { Upload } from "../../storage/schema/uploads.ts"
import { listAbandoned, listOwnUploads } from "../../storage/uploads.ts"
import { deleteOldUsage } from "../../storage/usage.ts"
import { removeExpiredLinks } from "../../storage/users.ts"
import type { JobMessage } from "../dispatch/job-messages.ts"
import { removeOldUnconfirmed } from "../accounts/unconfirmed.ts"
import { cancelJob } from "../jobs/cancel.ts"
import { abandonUpload } from "../uploads/abandon.ts"
import { enqueueDelivery } from "../webhooks/outbox.ts"
import { mendCopies } from "./copies.ts"
import { tellOfDatabase } from "./database-size.ts"
import { collectGarbage } from "./garbage.ts"
import { purgeAccounts } from "./purge.ts"
import { tellOfOutages } from "./receiver-alerts.ts"
import { tickDispatchers } from "./tick-dispatchers.ts"
import { untilDone } from "./until-done.ts"

const DAY_MS = 24 * 3_600_000
/** Above UPLOAD_MS_MAX, so that none is removed that is still on its way. */
const ABANDONED_MS = DAY_MS
const ACCEPT_MS_MAX = 30_000
const ROWS_MAX = 100
/** What accounts used is kept for so long. */
const USAGE_DAYS_MAX = 400
const MEDIA_MAX = 1000
/** How long a message that nobody could take is kept. */
const DEAD_LETTER_MS = 30 * DAY_MS
/** Longer than a lookup answers for its URL, and than anybody waits for one. */
const LOOKUP_MS_MAX = 5 * 60_000
/** Longer than tries to sign in are counted. */
const TRIES_MS_MAX = 5 * 60_000

/**
 * Finds whatever messages and objects lost, and puts it on its way again. With `isStart`, `now` is when
 * the only process of the Worker began: what an earlier one was storing then is on its way no more.
 */
export async function sweep(
  env: Env,
  now: number,
  { isStart = false }: { isStart?: boolean } = {},
): Promise<void> {
  prepareLog(env)
  const { fetchedMs } = retentionOf(env)
  const keptMs = settingsOf(env).JOB_DAYS_MAX * DAY_MS
  const results = await Promise.allSettled([
    collectGarbage(env, now),
    tellOfDatabase(env),
    mendCopies(env),
    purgeAccounts(env, directoryOf(env), now),
    removeOldTries(directoryOf(env), now - TRIES_MS_MAX),
    removeExpiredLinks(directoryOf(env), new Date(now)),
    removeOldUnconfirmed(env, now),
    deleteOldMailCounts(directoryOf(env), now),
    ...databasesOf(env).flatMap((database) => [
      resendJobMessages(env, database, now),
      tickDispatchers(env, database, now),
      resendDeliveryMessages(env, database, now),
      removeAbandonedUploads(env, database, now),
      ...(isStart ? [removeOwnUploads(env, database, now)] : []),
      deleteExpiredIdempotency(database, now),
      untilDone(async () => await deleteFinishedJobs(database, now - keptMs)),
      removeExpiredJobs(env, database, now),
      tellOfOutages(env, database, now),
      untilDone(async () => await deleteEndedDeliveries(database, now - keptMs)),
      deleteOldOutages(database, now - keptMs),
      removeOldMedia(database, now - fetchedMs, now),
      deleteOldUsage(database, dayOf(now - USAGE_DAYS_MAX * DAY_MS)),
      deleteLeftSecrets(database, ROWS_MAX),
      deleteOldDeadLetters(database, now - DEAD_LETTER_MS),
      removeLookups(env, database, now - LOOKUP_MS_MAX),
    ]),
  ])
  for (const result of results) {
    if (result.status === "rejected") logError("sweep.failed", { error: String(result.reason) })
  }
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
  const { keptMsMax } = retentionOf(env)
  const endedBefore = keptMsMax === null ? null : now - keptMsMax
  await untilDone(async () => await removeExpired(database, { now, endedBefore }))
}

async function removeOldMedia(database: Database, before: number, now: number): Promise<void> {
  const some = { before, now, limit: MEDIA_MAX }
  await untilDone(async () => (await removeFetchedMedia(database, some)) === MEDIA_MAX)
}

/** Lookups that are over go with their jobs; one that nobody ended is, and goes the next time. */
async function removeLookups(env: Env, database: Database, before: number): Promise<void> {
  for (const { accountId, jobId, state } of await listOldLookups(database, before, ROWS_MAX)) {
    if (state === null || isFinal(state)) continue
    await doOrLog("sweep.lookup_failed", { job_id: jobId }, async () => {
      await cancelJob(env, accountId, jobId)
    })
  }
  await untilDone(async () => await deleteOldLookups(database, before))
}

async function removeAbandonedUploads(env: Env, database: Database, now: number): Promise<void> {
  await removeUploads(env, await listAbandoned(database, now - ABANDONED_MS, ROWS_MAX), now)
}

/** Removes what callers were sending to a process that is gone. */
async function removeOwnUploads(env: Env, database: Database, now: number): Promise<void> {
  await untilDone(async () => {
    const own = await listOwnUploads(database, now, ROWS_MAX)
    await removeUploads(env, own, now)
    return own.length === ROWS_MAX
  })
}

async function removeUploads(env: Env, uploads: readonly Upload[], now: number): Promise<void> {
  for (const upload of uploads) {
    await doOrLog("sweep.upload_failed", { upload_id: upload.id }, async () => {
      await abandonUpload(env, upload, now)
    })
  }
}
