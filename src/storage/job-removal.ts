import { and, asc, eq, isNotNull, isNull, lt, sql } from "drizzle-orm"
import type { Column, SQL } from "drizzle-orm"
import { firstIdAt } from "../ids.ts"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { deliveryPrefix, jobPrefix, prefixOf } from "./objects.ts"
import { deliveries, deliveryTries } from "./schema/deliveries.ts"
import { files } from "./schema/files.ts"
import type { File } from "./schema/files.ts"
import { idempotency, jobs, metadataLookups } from "./schema/jobs.ts"
import { FILE_SOURCES, isFinal, isOfCaller } from "./schema/states.ts"
import type { FileSource } from "./schema/states.ts"
import { taskInputs, tasks } from "./schema/tasks.ts"
import { garbage } from "./schema/uploads.ts"
import { listOldLookups } from "./metadata-lookups.ts"
import { deleteSecrets } from "./task-secrets.ts"
import { filesOf } from "./transitions.ts"
import type { JobSnapshot } from "./transitions.ts"

type NewGarbage = { prefix: string; fileId: string | null; dueAt: number }

/** Rows that one batch removes, of each table: others wait for the database no longer than that. */
export const REMOVED_AT_ONCE = 500
/** Rows that one statement makes, so that what tells of them is no more than D1 takes. */
const GARBAGE_AT_ONCE = 4000
/** Files that are looked at for those whose jobs are gone: these are the oldest, where there are some. */
const LOOKED_AT_MAX = 1000

/** Files that go with the rows of their jobs in any case: they are nobody's Files. */
const FETCHED = ["fetch", "transcript"] as const satisfies FileSource[]

const hasNoExpiry = and(isNotNull(jobs.completedAt), isNull(jobs.retentionMs))

/**
 * Removes a job that is over with its tasks and files, whose objects become garbage. Its webhook
 * stays, and so does what came in for its inputs: those are Files of the account. A task of another
 * job that reads one of the files keeps the bytes until it is done.
 */
export async function removeJob(
  { accountId, sql: database }: AccountDatabase,
  ended: JobSnapshot,
  now: number,
): Promise<void> {
  const { id: jobId } = ended.job
  const own = ended.files.filter(({ id, source }) => !isOfCaller(source) || id === jobId)
  const left = own.flatMap((file) => prefixesOf(file, now))
  const values = hasValues(ended) ? [valuesOf(jobPrefix(accountId, jobId), now)] : []
  const ownTasks = sql`(select id from tasks where job_id = ${jobId} and account_id = ${accountId})`
  await runBatch(database, [
    ...insertGarbage(database, [...left, ...values]),
    deleteSecrets({ accountId, sql: database }, jobId),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${ownTasks}`),
    database.delete(tasks).where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
    database
      .delete(files)
      .where(
        and(
          filesOf(accountId, jobId),
          sql`(${files.source} not in ('import', 'upload') or ${files.id} = ${jobId})`,
        ),
      ),
    database
      .delete(idempotency)
      .where(and(eq(idempotency.accountId, accountId), eq(idempotency.jobId, jobId))),
    database.delete(jobs).where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId))),
  ])
}

/** Whether a job or a task of it has values in R2. */
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
 * Deletes some of the jobs, of all accounts, that ended before a moment; their files stay, but for
 * what was fetched. Answers whether there may be more.
 */
export async function deleteFinishedJobs(database: Database, before: number): Promise<boolean> {
  const old = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(hasNoExpiry, lt(jobs.completedAt, before)))
    .limit(REMOVED_AT_ONCE)
  const ids = old.map((job) => job.id)
  if (ids.length > 0) await runBatch(database, await removalOf(database, ids, FETCHED))
  return ids.length === REMOVED_AT_ONCE
}

/**
 * Removes some of the jobs, of all accounts, whose time is over at `now`, with all that they stored; of
 * those that have no time of their own, what ended before `endedBefore`, with Files whose jobs are gone.
 * Where `endedBefore` is null, these are kept. Answers whether there may be more.
 */
export async function removeExpired(
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
        .delete(idempotency)
        .where(and(isListed(idempotency.accountId, accountIds), isListed(idempotency.jobId, ids))),
    ])
  }
  const left = endedBefore === null ? 0 : await removeLeftFiles(database, now, endedBefore)
  return expired.length >= REMOVED_AT_ONCE || left >= REMOVED_AT_ONCE
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
      ),
    )
    .orderBy(sql`completed_at + retention_ms`)
    .limit(REMOVED_AT_ONCE)
  if (endedBefore === null || timed.length === REMOVED_AT_ONCE) return timed
  const old = await database
    .select(columns)
    .from(jobs)
    .where(and(hasNoExpiry, lt(jobs.completedAt, endedBefore)))
    .orderBy(asc(jobs.completedAt))
    .limit(REMOVED_AT_ONCE - timed.length)
  return [...timed, ...old]
}

/** Removes some of the oldest files that ended before a moment, and whose jobs are gone; how many. */
async function removeLeftFiles(
  database: Database,
  now: number,
  endedBefore: number,
): Promise<number> {
  const { id, jobId, objectKey, completedAt } = files
  const oldest = database
    .select({ id, jobId, objectKey, completedAt })
    .from(files)
    .where(lt(id, firstIdAt(endedBefore)))
    .orderBy(asc(id))
    .limit(LOOKED_AT_MAX)
    .as("oldest")
  const left = await database
    .select({ id: oldest.id, objectKey: oldest.objectKey })
    .from(oldest)
    .where(
      and(
        lt(oldest.completedAt, endedBefore),
        sql`not exists (select 1 from ${jobs} where ${jobs.id} = ${oldest.jobId})`,
      ),
    )
    .limit(REMOVED_AT_ONCE)
  const ids = left.map((file) => file.id)
  if (ids.length === 0) return 0
  await runBatch(database, [
    ...insertGarbage(
      database,
      left.flatMap((file) => prefixesOf(file, now)),
    ),
    database.delete(files).where(isListed(files.id, ids)),
  ])
  return ids.length
}

/**
 * Deletes some of the lookups, of all accounts, made before a moment, with their jobs that are over.
 * Answers whether there may be more.
 */
export async function deleteOldLookups(database: Database, before: number): Promise<boolean> {
  const old = await listOldLookups(database, before, REMOVED_AT_ONCE)
  const ids = old.flatMap(({ jobId, state }) => (state === null || isFinal(state) ? [jobId] : []))
  if (ids.length === 0) return false
  const isOld = lt(metadataLookups.createdAt, before)
  await runBatch(database, [
    ...(await removalOf(database, ids, FETCHED)),
    database.delete(metadataLookups).where(and(isOld, isListed(metadataLookups.jobId, ids))),
  ])
  return old.length === REMOVED_AT_ONCE
}

/** Statements that delete jobs with what is theirs alone. */
async function removalOf(
  database: Database,
  ids: string[],
  sources: readonly FileSource[],
): Promise<Statement[]> {
  const isTheirs = and(isListed(files.jobId, ids), isListed(files.source, sources))
  const [withValues, stored] = await database.batch([
    database
      .select({ id: jobs.id, accountId: jobs.accountId })
      .from(jobs)
      .where(and(isListed(jobs.id, ids), jobHasValues)),
    database.select({ id: files.id, objectKey: files.objectKey }).from(files).where(isTheirs),
  ])
  const theirTasks = sql`(select ${tasks.id} from ${tasks} where ${isListed(tasks.jobId, ids)})`
  const now = Date.now()
  const left = [
    ...withValues.map(({ id, accountId }) => valuesOf(jobPrefix(accountId, id), now)),
    ...stored.flatMap((file) => prefixesOf(file, now)),
  ]
  return [
    ...insertGarbage(database, left),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(tasks).where(isListed(tasks.jobId, ids)),
    database.delete(files).where(isTheirs),
    database.delete(jobs).where(isListed(jobs.id, ids)),
  ]
}

/**
 * Deletes some of the deliveries, of all accounts, that ended before a moment, with their tries.
 * Answers whether there may be more.
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
    .limit(REMOVED_AT_ONCE)
  const ids = old.map((delivery) => delivery.id)
  if (ids.length === 0) return false
  const left = old.flatMap(({ id, accountId, bodyObjectKey }) =>
    bodyObjectKey === null ? [] : [valuesOf(deliveryPrefix(accountId, id), Date.now())],
  )
  await runBatch(database, [
    ...insertGarbage(database, left),
    database.delete(deliveryTries).where(isListed(deliveryTries.deliveryId, ids)),
    database.delete(deliveries).where(isListed(deliveries.id, ids)),
  ])
  return ids.length === REMOVED_AT_ONCE
}

/** The garbage that large values of a row are. */
function valuesOf(prefix: string, dueAt: number): NewGarbage {
  return { prefix, fileId: null, dueAt }
}

/** The garbage that a file is; a task of another job that reads it keeps the bytes until it is done. */
function prefixesOf(
  { id, objectKey }: Pick<File, "id" | "objectKey">,
  dueAt: number,
): NewGarbage[] {
  return objectKey === null ? [] : [{ prefix: prefixOf(objectKey), fileId: id, dueAt }]
}

function insertGarbage(database: Database, rows: NewGarbage[]): Statement[] {
  const groups = Array.from({ length: Math.ceil(rows.length / GARBAGE_AT_ONCE) }, (_, index) =>
    rows.slice(index * GARBAGE_AT_ONCE, (index + 1) * GARBAGE_AT_ONCE),
  )
  return groups.map((group) => {
    const listed = sql`json_each(${JSON.stringify(group)})`
    const values = sql`select value ->> 'prefix', value ->> 'fileId', value ->> 'dueAt', 0 from ${listed} where true`
    return database.insert(garbage).select(values).onConflictDoNothing()
  })
}

/** Whether a column has one of some values, which are one bound parameter together. */
function isListed(column: Column, values: readonly string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(values)}))`
}
