import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import type { Database } from "../storage/database.ts"
import { listDueDeliveries } from "../storage/deliveries.ts"
import { forgetGarbage, listDueGarbage, postponeGarbage } from "../storage/garbage.ts"
import { forgetIdempotency } from "../storage/idempotency.ts"
import { listAccountsWithOpenJobs, listUnaccepted } from "../storage/jobs.ts"
import { stopWriting } from "../storage/part-writer.ts"
import type { PartWriter } from "../storage/part-writer.ts"
import { forgetEndedDeliveries, forgetFinishedJobs } from "../storage/retention.ts"
import { abortUpload, deletePrefix } from "../storage/objects.ts"
import { closeUpload, listAbandoned, listUploadsBelow, markDying } from "../storage/uploads.ts"
import type { Upload } from "../storage/schema.ts"
import { nudgeDelivery } from "./settle.ts"
import { logError } from "../log.ts"

const HOUR_MS = 3_600_000
const UPLOAD_MS_MAX = 24 * HOUR_MS
const PASSES = 2
const ACCEPT_MS_MAX = 30_000
const ROWS_MAX = 100

/** Finds whatever was left behind or forgotten, and puts it on its way again. */
export async function sweep(env: Env, now: number): Promise<void> {
  const results = await Promise.allSettled([
    acceptAgain(env, now),
    tickDispatchers(env),
    deliverAgain(env, now),
    collectGarbage(env, now),
    removeAbandonedUploads(env, now),
    forgetIdempotency(openDatabase(env.DB), now),
    forgetOldJobs(env, now),
  ])
  for (const result of results) {
    if (result.status === "fulfilled") continue
    logError("sweep.failed", { error: String(result.reason) })
  }
}

/** Removes what lies below prefixes that nobody owns; each is looked at again an hour later. */
export async function collectGarbage(env: Env, now: number): Promise<void> {
  const database = openDatabase(env.DB)
  for (const { prefix, passes } of await listDueGarbage(database, now, ROWS_MAX)) {
    for (const upload of await listUploadsBelow(database, prefix)) {
      await removeUpload(env, database, upload)
    }
    await deletePrefix(env.MEDIA, prefix)
    if (passes + 1 >= PASSES) await forgetGarbage(database, prefix)
    else await postponeGarbage(database, prefix, { dueAt: now + HOUR_MS, passes: passes + 1 })
  }
}

/** Aborts an upload and removes what it stored, unless a job has taken it meanwhile. */
async function abandonUpload(env: Env, upload: Upload, now: number): Promise<void> {
  const database = openDatabase(env.DB)
  if (!(await markDying(database, upload.id, now))) return
  await removeUpload(env, database, upload)
}

/** Abandons what a writer began; one that stored nothing has left nothing. */
export async function abandonWriter(env: Env, writer: PartWriter): Promise<void> {
  if (await stopWriting(writer)) await abandonUpload(env, writer.upload, Date.now())
}

async function removeUpload(env: Env, database: Database, upload: Upload): Promise<void> {
  await abortUpload(env.MEDIA, upload)
  if (upload.taskId === null) await env.MEDIA.delete(upload.objectKey)
  await closeUpload(database, upload.id)
}

/** Jobs whose message and call were lost: their dispatcher takes them in from D1. */
async function acceptAgain(env: Env, now: number): Promise<void> {
  const database = openDatabase(env.DB)
  const forgotten = await listUnaccepted(database, now - ACCEPT_MS_MAX, ROWS_MAX)
  for (const { accountId, task } of forgotten) {
    // Whether its inputs are there is judged again by whoever takes it in.
    await env.JOBS.send({ accountId, tasks: [{ ...task, blocked: true }] })
  }
}

async function deliverAgain(env: Env, now: number): Promise<void> {
  const due = await listDueDeliveries(openDatabase(env.DB), now, ROWS_MAX)
  for (const deliveryId of due) await nudgeDelivery(env, deliveryId)
}

async function forgetOldJobs(env: Env, now: number): Promise<void> {
  const before = now - settingsOf(env).JOB_DAYS_MAX * 24 * HOUR_MS
  await forgetFinishedJobs(openDatabase(env.DB), before)
  await forgetEndedDeliveries(openDatabase(env.DB), before)
}

async function tickDispatchers(env: Env): Promise<void> {
  const accounts = await listAccountsWithOpenJobs(openDatabase(env.DB))
  await Promise.allSettled(
    accounts.map((accountId) => env.DISPATCHER.getByName(accountId).tick(accountId)),
  )
}

async function removeAbandonedUploads(env: Env, now: number): Promise<void> {
  const database = openDatabase(env.DB)
  const abandoned = await listAbandoned(database, now - UPLOAD_MS_MAX, ROWS_MAX)
  for (const upload of abandoned) await abandonUpload(env, upload, now)
}
