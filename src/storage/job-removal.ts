import { and, eq, inArray, isNotNull, lt, sql } from "drizzle-orm"
import { groupRows, runBatch } from "./database.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { deliveryPrefix, jobPrefix, prefixOf } from "./objects.ts"
import { deliveries, deliveryTries } from "./schema/deliveries.ts"
import { files } from "./schema/files.ts"
import { idempotency, jobs, metadataLookups } from "./schema/jobs.ts"
import { isFinal, isOfCaller } from "./schema/states.ts"
import { taskInputs, tasks } from "./schema/tasks.ts"
import { garbage } from "./schema/uploads.ts"
import { listOldLookups } from "./metadata-lookups.ts"
import { deleteSecrets } from "./task-secrets.ts"
import type { JobSnapshot } from "./transitions.ts"

/** D1 takes 100 bound parameters a statement. */
const ROWS_MAX = 90

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
  const left = own.flatMap(({ id, objectKey }) =>
    objectKey === null ? [] : [{ prefix: prefixOf(objectKey), fileId: id, dueAt: now }],
  )
  const values = hasValues(ended)
    ? [{ prefix: jobPrefix(accountId, jobId), fileId: null, dueAt: now }]
    : []
  const ownTasks = sql`(select id from tasks where job_id = ${jobId} and account_id = ${accountId})`
  await runBatch(database, [
    ...groupRows([...left, ...values], 4).map((rows) =>
      database.insert(garbage).values(rows).onConflictDoNothing(),
    ),
    deleteSecrets({ accountId, sql: database }, jobId),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${ownTasks}`),
    database.delete(tasks).where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
    database
      .delete(files)
      .where(
        and(
          eq(files.jobId, jobId),
          eq(files.accountId, accountId),
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
 * what was fetched.
 */
export async function deleteFinishedJobs(database: Database, before: number): Promise<void> {
  const old = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(isNotNull(jobs.completedAt), lt(jobs.completedAt, before)))
    .limit(ROWS_MAX)
  const ids = old.map((job) => job.id)
  if (ids.length > 0) await runBatch(database, await removalOf(database, ids))
}

/** Deletes some of the lookups, of all accounts, made before a moment, with their jobs that are over. */
export async function deleteOldLookups(database: Database, before: number): Promise<void> {
  const old = await listOldLookups(database, before, ROWS_MAX)
  const ids = old.flatMap(({ jobId, state }) => (state === null || isFinal(state) ? [jobId] : []))
  if (ids.length === 0) return
  const isOld = lt(metadataLookups.createdAt, before)
  await runBatch(database, [
    ...(await removalOf(database, ids)),
    database.delete(metadataLookups).where(and(isOld, inArray(metadataLookups.jobId, ids))),
  ])
}

/** Statements that delete jobs, at most `ROWS_MAX`, with what is theirs alone. */
async function removalOf(database: Database, ids: string[]): Promise<Statement[]> {
  const isTheirs = and(inArray(files.jobId, ids), inArray(files.source, ["fetch", "transcript"]))
  const [withValues, fetched] = await database.batch([
    database
      .select({ id: jobs.id, accountId: jobs.accountId })
      .from(jobs)
      .where(and(inArray(jobs.id, ids), jobHasValues)),
    database.select({ objectKey: files.objectKey }).from(files).where(isTheirs),
  ])
  const theirTasks = sql`(select ${tasks.id} from ${tasks} where ${inArray(tasks.jobId, ids)})`
  const left = [
    ...withValues.map(({ id, accountId }) => jobPrefix(accountId, id)),
    ...fetched.flatMap(({ objectKey }) => (objectKey === null ? [] : [prefixOf(objectKey)])),
  ]
  return [
    ...insertGarbage(database, left),
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(tasks).where(inArray(tasks.jobId, ids)),
    database.delete(files).where(isTheirs),
    database.delete(jobs).where(inArray(jobs.id, ids)),
  ]
}

/** Deletes some of the deliveries, of all accounts, that ended before a moment, with their tries. */
export async function deleteEndedDeliveries(database: Database, before: number): Promise<void> {
  const old = await database
    .select({
      id: deliveries.id,
      accountId: deliveries.accountId,
      bodyObjectKey: deliveries.bodyObjectKey,
    })
    .from(deliveries)
    .where(and(isNotNull(deliveries.completedAt), lt(deliveries.completedAt, before)))
    .limit(ROWS_MAX)
  const ids = old.map((delivery) => delivery.id)
  if (ids.length === 0) return
  const left = old.flatMap(({ id, accountId, bodyObjectKey }) =>
    bodyObjectKey === null ? [] : [deliveryPrefix(accountId, id)],
  )
  await runBatch(database, [
    ...insertGarbage(database, left),
    database.delete(deliveryTries).where(inArray(deliveryTries.deliveryId, ids)),
    database.delete(deliveries).where(inArray(deliveries.id, ids)),
  ])
}

function insertGarbage(database: Database, prefixes: string[]): Statement[] {
  const rows = prefixes.map((prefix) => ({ prefix, dueAt: Date.now() }))
  return groupRows(rows, 4).map((group) =>
    database.insert(garbage).values(group).onConflictDoNothing(),
  )
}
