import { and, asc, eq, isNotNull, isNull, lt, not, or, sql } from "drizzle-orm"
import type { Column, SQL } from "drizzle-orm"
import { makeSmallestIdAtTime } from "../../platform/ids.ts"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import {
  makeDeliveryKeyPrefix,
  makeJobValuesKeyPrefix,
  getFileKeyPrefix,
} from "../../domain/object-keys.ts"
import { deliveries, deliveryTries } from "../schema/deliveries.ts"
import { fileAwaitedCondition, jobFilesAwaitedCondition } from "../files/input-files.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import { idempotencyKeys, jobs, metadataLookups } from "../schema/jobs.ts"
import { FILE_SOURCES, isFinalState, isCallerFileSource } from "../../domain/states.ts"
import type { FileSource } from "../../domain/states.ts"
import { taskInputs, tasks } from "../schema/tasks.ts"
import { garbage } from "../schema/uploads.ts"
import { listOldMetadataLookups } from "./metadata-lookups.ts"
import { deleteTaskSecretsStatement } from "./task-secrets.ts"
import { fileOfJobCondition } from "./apply-transition.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"

type NewGarbage = { prefix: string; fileId: string | null; dueAt: number }

/**
 * Maximum number of rows that one batch removes from each table. Larger batches would block the
 * database for too long.
 */
export const REMOVED_ROWS_MAX = 500
/**
 * Maximum number of rows that one statement inserts into `garbage`. The rows are one JSON
 * parameter, whose size D1 limits.
 */
const GARBAGE_AT_ONCE = 4000
/**
 * Maximum number of files, the oldest, for which one step checks whether their jobs still exist.
 */
const LOOKED_AT_MAX = 1000

/**
 * Sources of the files that the API does not list: media of fetch jobs, and transcripts. Every
 * removal of a job also removes its files from these sources.
 */
const FETCHED = ["fetch", "transcript"] as const satisfies FileSource[]

/** Sources of the files that are removed together with their job when a caller removes the job. */
const REMOVED_WITH_JOB = ["output", ...FETCHED] as const satisfies FileSource[]

const hasNoExpiry = and(isNotNull(jobs.completedAt), isNull(jobs.retentionMs))
/**
 * SQL condition that a job belongs to a batch with open jobs. Such a job is kept, because the
 * record and the webhook of the batch show all its jobs.
 */
const isOfOpenBatch = sql`exists (select 1 from batches where batches.id = ${jobs.batchId} and batches.completed_at is null)`
const isUnneeded = and(not(jobFilesAwaitedCondition), not(isOfOpenBatch))

/**
 * Removes a finished job with its tasks and files; the sweep deletes the objects of the files.
 * Inputs that were imported or uploaded stay, because the API lists them as files of the account.
 * The webhook's delivery stays too. A running task of another job can read a removed file until the
 * task ends.
 */
export async function removeJob(
  { accountId, sql: database }: AccountDatabase,
  snapshot: JobSnapshot,
  now: number,
): Promise<void> {
  const { id: jobId } = snapshot.job
  const own = snapshot.files.filter(({ id, source }) => !isCallerFileSource(source) || id === jobId)
  const garbageRows = own.flatMap((file) => prefixesOf(file, now))
  const values = hasValues(snapshot)
    ? [valuesOf(makeJobValuesKeyPrefix(accountId, jobId), now)]
    : []
  const ownTasks = sql`(select id from tasks where job_id = ${jobId} and account_id = ${accountId})`
  await runBatch(database, [
    ...insertGarbage(database, [...garbageRows, ...values]),
    deleteTaskSecretsStatement({ accountId, sql: database }, jobId),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${ownTasks}`),
    database.delete(tasks).where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
    database
      .delete(files)
      .where(
        and(
          fileOfJobCondition(accountId, jobId),
          sql`(${files.source} not in ('import', 'upload') or ${files.id} = ${jobId})`,
        ),
      ),
    database
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.jobId, jobId))),
    database.delete(jobs).where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId))),
  ])
}

/**
 * Removes finished jobs of the account with their tasks and files, as `removeJob`. Returns the ids
 * of all files of the jobs.
 */
export async function removeJobs(
  { accountId, sql: database }: AccountDatabase,
  ids: readonly string[],
): Promise<string[]> {
  const ofAccount = and(isListed(jobs.id, ids), sql`+${jobs.accountId} = ${accountId}`)
  const [jobRows, fileRows] = await database.batch([
    database.select({ id: jobs.id }).from(jobs).where(ofAccount),
    database
      .select({ id: files.id })
      .from(files)
      .where(and(isListed(files.jobId, ids), sql`+${files.accountId} = ${accountId}`)),
  ])
  const own = jobRows.map(({ id }) => id)
  const statements = await removalOf(database, own, REMOVED_WITH_JOB, { areOwnFilesRemoved: true })
  await runBatch(database, [
    ...statements,
    database
      .delete(idempotencyKeys)
      .where(and(eq(idempotencyKeys.accountId, accountId), isListed(idempotencyKeys.jobId, own))),
  ])
  return fileRows.map(({ id }) => id)
}

/** Reports whether values of a job or of its tasks are stored in R2. */
function hasValues({ job, tasks: own }: JobSnapshot): boolean {
  return (
    job.requestObjectKey !== null ||
    job.resultObjectKey !== null ||
    own.some((task) => task.workObjectKey !== null || task.resultObjectKey !== null)
  )
}

const taskHasValues = sql`exists (select 1 from tasks where tasks.job_id = jobs.id and (work_object_key is not null or tasks.result_object_key is not null))`
const jobHasValues = sql`(request_object_key is not null or result_object_key is not null or ${taskHasValues})`

/**
 * Deletes some jobs of all accounts that have no expiry and ended before a time. Their files stay,
 * except fetched media and transcripts. Reports whether more jobs may remain to delete.
 */
export async function deleteFinishedJobs(database: Database, before: number): Promise<boolean> {
  const old = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(hasNoExpiry, lt(jobs.completedAt, before), isUnneeded))
    .limit(REMOVED_ROWS_MAX)
  const ids = old.map((job) => job.id)
  if (ids.length > 0) await runBatch(database, await removalOf(database, ids, FETCHED))
  return ids.length === REMOVED_ROWS_MAX
}

/**
 * Removes some expired jobs of all accounts with all their stored data, except jobs with a file
 * that another job still has to read. With `endedBefore`, also removes jobs without an expiry that
 * ended before that time, and files whose job no longer exists. Reports whether more jobs or files
 * may remain to remove.
 */
export async function removeExpiredJobs(
  database: Database,
  { now, endedBefore }: { now: number; endedBefore: number | null },
): Promise<boolean> {
  const expired = await listExpired(database, now, endedBefore)
  if (expired.length > 0) {
    const accountIds = [...new Set(expired.map(({ accountId }) => accountId))]
    const ids = expired.map(({ id }) => id)
    await runBatch(database, [
      ...(await removalOf(database, ids, FILE_SOURCES)),
      database
        .delete(idempotencyKeys)
        .where(
          and(
            isListed(idempotencyKeys.accountId, accountIds),
            isListed(idempotencyKeys.jobId, ids),
          ),
        ),
    ])
  }
  const removedCount = endedBefore === null ? 0 : await removeLeftFiles(database, now, endedBefore)
  return expired.length >= REMOVED_ROWS_MAX || removedCount >= REMOVED_ROWS_MAX
}

async function listExpired(
  database: Database,
  now: number,
  endedBefore: number | null,
): Promise<{ id: string; accountId: string }[]> {
  const columns = { id: jobs.id, accountId: jobs.accountId }
  const timed = await database
    .select(columns)
    .from(jobs)
    .where(
      and(
        isNotNull(jobs.retentionMs),
        isNotNull(jobs.completedAt),
        sql`completed_at + retention_ms <= ${now}`,
        isUnneeded,
      ),
    )
    .orderBy(sql`completed_at + retention_ms`)
    .limit(REMOVED_ROWS_MAX)
  if (endedBefore === null || timed.length === REMOVED_ROWS_MAX) return timed
  const old = await database
    .select(columns)
    .from(jobs)
    .where(and(hasNoExpiry, lt(jobs.completedAt, endedBefore), isUnneeded))
    .orderBy(asc(jobs.completedAt))
    .limit(REMOVED_ROWS_MAX - timed.length)
  return [...timed, ...old]
}

/**
 * Removes some files that ended before a time and whose job no longer exists, the oldest first.
 * Returns the number of removed files.
 */
async function removeLeftFiles(
  database: Database,
  now: number,
  endedBefore: number,
): Promise<number> {
  const { id, jobId, objectKey, completedAt } = files
  const oldest = database
    .select({ id, jobId, objectKey, completedAt })
    .from(files)
    .where(lt(id, makeSmallestIdAtTime(endedBefore)))
    .orderBy(asc(id))
    .limit(LOOKED_AT_MAX)
    .as("oldest")
  const orphans = await database
    .select({ id: oldest.id, objectKey: oldest.objectKey })
    .from(oldest)
    .where(
      and(
        lt(oldest.completedAt, endedBefore),
        sql`not exists (select 1 from ${jobs} where ${jobs.id} = ${oldest.jobId})`,
        not(fileAwaitedCondition(sql`${oldest.id}`)),
      ),
    )
    .limit(REMOVED_ROWS_MAX)
  const ids = orphans.map((file) => file.id)
  if (ids.length === 0) return 0
  await runBatch(database, [
    ...insertGarbage(
      database,
      orphans.flatMap((file) => prefixesOf(file, now)),
    ),
    database.delete(files).where(isListed(files.id, ids)),
  ])
  return ids.length
}

/**
 * Deletes some metadata lookups of all accounts that were created before a time, together with
 * their jobs. Lookups with an open job stay. Returns true if more lookups may remain to delete.
 */
export async function deleteOldMetadataLookups(
  database: Database,
  before: number,
): Promise<boolean> {
  const old = await listOldMetadataLookups(database, before, REMOVED_ROWS_MAX)
  const ids = old.flatMap(({ jobId, state }) =>
    state === null || isFinalState(state) ? [jobId] : [],
  )
  if (ids.length === 0) return false
  const isOld = lt(metadataLookups.createdAt, before)
  await runBatch(database, [
    ...(await removalOf(database, ids, FETCHED)),
    database.delete(metadataLookups).where(and(isOld, isListed(metadataLookups.jobId, ids))),
  ])
  return old.length === REMOVED_ROWS_MAX
}

/**
 * Returns statements that delete jobs with their tasks, and with their files from the given
 * sources. With `areOwnFilesRemoved`, a file that its job only uploaded or imported (the file has
 * the job's id) is deleted from any source.
 */
async function removalOf(
  database: Database,
  ids: string[],
  sources: readonly FileSource[],
  { areOwnFilesRemoved = false }: { areOwnFilesRemoved?: boolean } = {},
): Promise<Statement[]> {
  const isOfSource = isListed(files.source, sources)
  const isRemoved = areOwnFilesRemoved ? or(isOfSource, isListed(files.id, ids)) : isOfSource
  const isTheirs = and(isListed(files.jobId, ids), isRemoved)
  const [withValues, ownFiles] = await database.batch([
    database
      .select({ id: jobs.id, accountId: jobs.accountId })
      .from(jobs)
      .where(and(isListed(jobs.id, ids), jobHasValues)),
    database.select({ id: files.id, objectKey: files.objectKey }).from(files).where(isTheirs),
  ])
  const theirTasks = sql`(select ${tasks.id} from ${tasks} where ${isListed(tasks.jobId, ids)})`
  const now = Date.now()
  const garbageRows = [
    ...withValues.map(({ id, accountId }) => valuesOf(makeJobValuesKeyPrefix(accountId, id), now)),
    ...ownFiles.flatMap((file) => prefixesOf(file, now)),
  ]
  return [
    ...insertGarbage(database, garbageRows),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(tasks).where(isListed(tasks.jobId, ids)),
    database.delete(files).where(isTheirs),
    database.delete(jobs).where(isListed(jobs.id, ids)),
  ]
}

/**
 * Deletes some deliveries of all accounts that ended before a time, with their tries. Reports
 * whether more deliveries may remain to delete.
 */
export async function deleteEndedDeliveries(database: Database, before: number): Promise<boolean> {
  const old = await database
    .select({
      id: deliveries.id,
      accountId: deliveries.accountId,
      bodyObjectKey: deliveries.bodyObjectKey,
    })
    .from(deliveries)
    .where(and(isNotNull(deliveries.completedAt), lt(deliveries.completedAt, before)))
    .limit(REMOVED_ROWS_MAX)
  const ids = old.map((delivery) => delivery.id)
  if (ids.length === 0) return false
  const garbageRows = old.flatMap(({ id, accountId, bodyObjectKey }) =>
    bodyObjectKey === null ? [] : [valuesOf(makeDeliveryKeyPrefix(accountId, id), Date.now())],
  )
  await runBatch(database, [
    ...insertGarbage(database, garbageRows),
    database.delete(deliveryTries).where(isListed(deliveryTries.deliveryId, ids)),
    database.delete(deliveries).where(isListed(deliveries.id, ids)),
  ])
  return ids.length === REMOVED_ROWS_MAX
}

/** Returns a row of `garbage`, by which the sweep deletes large values of a job or a delivery. */
function valuesOf(prefix: string, dueAt: number): NewGarbage {
  return { prefix, fileId: null, dueAt }
}

/**
 * Returns the row of `garbage` for the R2 objects of a deleted file; an empty list if the file has
 * no stored object. The row names the file, so that the sweep keeps the objects while a running
 * task reads the file.
 */
function prefixesOf(
  { id, objectKey }: Pick<File, "id" | "objectKey">,
  dueAt: number,
): NewGarbage[] {
  return objectKey === null ? [] : [{ prefix: getFileKeyPrefix(objectKey), fileId: id, dueAt }]
}

function insertGarbage(database: Database, rows: NewGarbage[]): Statement[] {
  const groups = Array.from({ length: Math.ceil(rows.length / GARBAGE_AT_ONCE) }, (_, index) =>
    rows.slice(index * GARBAGE_AT_ONCE, (index + 1) * GARBAGE_AT_ONCE),
  )
  return groups.map((group) => {
    const splitRowsForInsert = sql`json_each(${JSON.stringify(group)})`
    const values = sql`select value ->> 'prefix', value ->> 'fileId', value ->> 'dueAt', 0 from ${splitRowsForInsert} where true`
    return database.insert(garbage).select(values).onConflictDoNothing()
  })
}

/**
 * Returns the SQL condition that a column has one of several values. The values are bound as one
 * JSON parameter.
 */
function isListed(column: Column, values: readonly string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(values)}))`
}
