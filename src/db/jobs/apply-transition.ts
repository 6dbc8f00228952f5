import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import type { EnabledEndpoint, JobSnapshot, SnapshotInput } from "../../domain/snapshot.ts"
import { countBatchJobEndStatement, insertBatchDeliveryStatement } from "../batches.ts"
import type { BatchJobEnd, BatchReceiver } from "../batches.ts"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Statement } from "../database.ts"
import type { NewDelivery } from "../deliveries.ts"
import { deliveries } from "../schema/deliveries.ts"
import {
  unchangedEndpointsCondition,
  selectEnabledEndpointsStatement,
} from "../webhook-endpoints.ts"
import { unpackEndedTasks } from "./ended-tasks.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import { jobDependencies, jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { isFinalState } from "../../domain/states.ts"
import { taskInputs, tasks, taskSecrets } from "../schema/tasks.ts"
import type { Task } from "../schema/tasks.ts"
import { garbage } from "../schema/uploads.ts"
import type { Upload } from "../schema/uploads.ts"
import { deleteTaskSecretsStatement } from "./task-secrets.ts"
import { deleteCompletedUploadsStatements } from "../files/uploads.ts"
import { addJobEndToUsageStatement } from "../accounts/usage.ts"
import type { JobEndUsage } from "../accounts/usage.ts"

/**
 * Reads a job with its tasks, files, inputs and webhook endpoints in one consistent read. Returns
 * null if there is no such job.
 */
export async function readJobSnapshot(
  database: AccountDatabase,
  jobId: string,
): Promise<JobSnapshot | null> {
  return toJobSnapshot(await database.sql.batch(selectSnapshotStatements(database, jobId)))
}

/** Returns the statements that read a job's snapshot, for `toJobSnapshot`. */
export function selectSnapshotStatements(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
) {
  const { taskId, key, fileId, awaitsProbe } = taskInputs
  return [
    database
      .select()
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId))),
    database
      .select()
      .from(tasks)
      .where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
    database.select().from(files).where(fileOfJobCondition(accountId, jobId)),
    database
      .select({ taskId, key, fileId, awaitsProbe })
      .from(taskInputs)
      .innerJoin(tasks, eq(tasks.id, taskInputs.taskId))
      .where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
    selectEnabledEndpointsStatement(database, accountId),
  ] as const
}

/**
 * Builds a snapshot from the rows that the statements of `selectSnapshotStatements` return. Returns
 * null if the rows contain no job.
 */
export function toJobSnapshot([[job], jobTasks, jobFiles, inputs, endpoints]: readonly [
  Job[],
  Task[],
  File[],
  SnapshotInput[],
  EnabledEndpoint[],
]): JobSnapshot | null {
  if (!job) return null
  return { job, tasks: jobTasks, files: jobFiles, inputs, endpoints, ...unpackEndedTasks(job) }
}

/**
 * Returns the SQL condition that selects the files of a job. The unary `+` prevents the use of the
 * index on `account_id`, with which SQLite could read every file of the account.
 */
export function fileOfJobCondition(accountId: string, jobId: string): SQL | undefined {
  return and(eq(files.jobId, jobId), sql`+${files.accountId} = ${accountId}`)
}

/**
 * Changes of a job, its tasks and its files that one batch writes. Pure functions compute a
 * transition from a snapshot of the job.
 */
export type JobTransition = {
  job: Partial<Job>
  tasks: { id: string; set: Partial<Task> }[]
  files: { id: string; set: Partial<File> }[]
  garbage: { prefix: string }[]
  /**
   * Outputs that the job did not store, because another file of the job has the same content: `id`
   * is the file without an object of its own, and `sameAs` the stored file.
   */
  sameFiles?: { id: string; sameAs: string }[]
  /** Deliveries of the webhooks for the job's end. */
  deliveries?: NewDelivery[]
  /**
   * Usage that the end of the job adds to its account. Absent if the transition does not end the
   * job.
   */
  ended?: JobEndUsage
  /**
   * Changes of the job's batch: the end of this job, and the receivers of the webhook about the
   * batch's end, which is sent if this job is the last to end.
   */
  batch?: { end: BatchJobEnd; receivers: readonly BatchReceiver[] }
  /**
   * Rows in `uploads` that track values written to R2 before the batch. The batch deletes them,
   * because the rows that it writes then own the R2 objects.
   */
  valueUploads?: Pick<Upload, "id">[]
}

/**
 * Writes a transition in one batch, and raises the job's version. Changes nothing if the job is no
 * longer at `version` (optimistic concurrency); the caller then reads the job and computes the
 * transition again. `isApplied` reports whether the transition was written, and `isBatchOver`
 * whether it ended the last open job of a batch.
 */
export async function applyJobTransition(
  database: AccountDatabase,
  applied: {
    jobId: string
    version: number
    endpoints: readonly EnabledEndpoint[]
    transition: JobTransition
    now: number
  },
): Promise<{ isApplied: boolean; isBatchOver: boolean }> {
  const { accountId, sql: db } = database
  const { jobId, version, endpoints, transition } = applied
  const { state } = transition.job
  const areEndpointsSame =
    state && isFinalState(state) ? unchangedEndpointsCondition(accountId, endpoints) : sql`true`
  const isUnchanged = sql`${jobIsAt(database, jobId, version)} and ${areEndpointsSame}`
  const raiseVersion = db
    .update(jobs)
    .set({ ...transition.job, version: version + 1 })
    .where(
      and(
        eq(jobs.id, jobId),
        eq(jobs.accountId, accountId),
        eq(jobs.version, version),
        areEndpointsSame,
      ),
    )
    .returning({ id: jobs.id })
  const results = await runBatch(db, [
    ...countInBatch(database, transition, isUnchanged),
    ...changeTasks(database, applied, isUnchanged),
    ...groupChanges(transition.files).map(({ ids, set }) =>
      db
        .update(files)
        .set(set)
        .where(and(sql`${files.id} in (select value from json_each(${ids}))`, isUnchanged)),
    ),
    ...insertPrefixes(database, applied, isUnchanged),
    ...deleteEndedSecrets(database, applied, isUnchanged),
    ...deleteCompletedUploadsStatements(
      database,
      (transition.valueUploads ?? []).map(({ id }) => id),
      isUnchanged,
    ),
    ...(transition.deliveries ?? []).map((each) => insertOnce(database, each, isUnchanged)),
    ...(transition.ended
      ? [addJobEndToUsageStatement(database, transition.ended, isUnchanged)]
      : []),
    ...moveInputs(database, transition, isUnchanged),
    ...(state && isFinalState(state) ? [releaseDependents(database, jobId, isUnchanged)] : []),
    raiseVersion,
  ])
  const isApplied = z.array(z.unknown()).parse(results.at(-1)).length === 1
  return { isApplied, isBatchOver: isApplied && hasNoOpenJob(transition, results) }
}

const batchRows = z.array(z.object({ openJobs: z.number() }))

/**
 * Reports whether the ended job was the last open job of its batch, from the result of the
 * transition's first statement.
 */
function hasNoOpenJob({ batch }: JobTransition, [counted]: readonly unknown[]): boolean {
  return batch !== undefined && batchRows.parse(counted)[0]?.openJobs === 0
}

/**
 * Returns the statements that count a job's end in its batch and, for the last job, insert the
 * webhooks of the batch's end.
 */
function countInBatch(
  database: AccountDatabase,
  { batch }: JobTransition,
  isUnchanged: SQL,
): Statement[] {
  if (!batch) return []
  const { end, receivers } = batch
  return [
    countBatchJobEndStatement(database, end, isUnchanged),
    ...receivers.map((receiver) =>
      insertBatchDeliveryStatement(database, receiver, end, isUnchanged),
    ),
  ]
}

/**
 * Returns statements that update tasks. If the transition ends the job and stores the tasks in the
 * job's row, the statements delete the rows of the tasks instead.
 */
function changeTasks(
  { sql: db }: AccountDatabase,
  { jobId, transition }: { jobId: string; transition: JobTransition },
  isUnchanged: SQL,
): Statement[] {
  if (transition.job.endedTasks) {
    const own = sql`(select ${tasks.id} from ${tasks} where ${tasks.jobId} = ${jobId})`
    return [
      db.delete(taskInputs).where(and(sql`${taskInputs.taskId} in ${own}`, isUnchanged)),
      db.delete(tasks).where(and(eq(tasks.jobId, jobId), isUnchanged)),
    ]
  }
  return transition.tasks.map(({ id, set }) =>
    db
      .update(tasks)
      .set(set)
      .where(and(eq(tasks.id, id), isUnchanged)),
  )
}

/**
 * Returns the statements that redirect inputs of tasks from a file that a job did not store (`id`)
 * to the stored file with the same content (`sameAs`).
 */
function moveInputs(
  { sql: db }: AccountDatabase,
  { sameFiles = [] }: JobTransition,
  isUnchanged: SQL,
): Statement[] {
  return sameFiles.map(({ id, sameAs }) =>
    db
      .update(taskInputs)
      .set({ fileId: sameAs })
      .where(and(eq(taskInputs.fileId, id), isUnchanged)),
  )
}

/**
 * Returns the statement that removes an ended job from the `waiting_for` list of each job that
 * reads its outputs.
 */
function releaseDependents(
  { sql: db }: AccountDatabase,
  jobId: string,
  isUnchanged: SQL,
): Statement {
  const dependents = sql`select job_id from ${jobDependencies} where needed_job_id = ${jobId}`
  const others = sql`(select json_group_array(value) from json_each(waiting_for) where value <> ${jobId})`
  return db
    .update(jobs)
    .set({ waitingFor: others })
    .where(and(sql`${jobs.id} in (${dependents})`, sql`waiting_for is not null`, isUnchanged))
}

/**
 * Groups files by the columns to set, so that one statement updates each group. `ids` is a JSON
 * array of file ids.
 */
function groupChanges(changes: JobTransition["files"]): { ids: string; set: Partial<File> }[] {
  const groups = Map.groupBy(changes, ({ set }) => JSON.stringify(set))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first ? [{ ids: JSON.stringify(group.map(({ id }) => id)), set: first.set }] : []
  })
}

/**
 * Returns the statement that deletes the secrets of ended tasks. If the job ends, the statement
 * deletes the secrets of all its tasks.
 */
function deleteEndedSecrets(
  database: AccountDatabase,
  { jobId, transition: { job, tasks: changed } }: { jobId: string; transition: JobTransition },
  isUnchanged: SQL,
): Statement[] {
  if (job.state && isFinalState(job.state))
    return [deleteTaskSecretsStatement(database, jobId, isUnchanged)]
  const finalIds = changed
    .filter(({ set }) => set.state && isFinalState(set.state))
    .map(({ id }) => id)
  if (finalIds.length === 0) return []
  const ofThem = sql`${taskSecrets.taskId} in (select value from json_each(${JSON.stringify(finalIds)}))`
  return [deleteTaskSecretsStatement(database, jobId, and(isUnchanged, ofThem))]
}

/**
 * Returns one statement that inserts all R2 key prefixes whose objects are to be deleted. A
 * statement for each would be too many: a task may have had a thousand dispatches, each with its
 * own prefix.
 */
function insertPrefixes(
  { sql: database }: AccountDatabase,
  { transition, now }: { transition: JobTransition; now: number },
  isUnchanged: SQL,
): Statement[] {
  const prefixes = transition.garbage.map(({ prefix }) => prefix)
  if (prefixes.length === 0) return []
  const rows = sql`select value, null, ${now}, 0 from json_each(${JSON.stringify(prefixes)}) where ${isUnchanged}`
  return [database.insert(garbage).select(rows).onConflictDoNothing()]
}

/**
 * Returns the statement that inserts a delivery for a job's end. The statement does nothing if the
 * job already has a delivery to the same endpoint.
 */
function insertOnce(
  { accountId, sql: database }: AccountDatabase,
  newDelivery: NewDelivery,
  isUnchanged: SQL,
): Statement {
  const { id, jobId, endpointId = "", type, url, state, nextTryAt, createdAt } = newDelivery
  const { body, bodyObjectKey = null } = newDelivery
  return database
    .insert(deliveries)
    .select(
      sql`select ${id}, ${accountId}, ${jobId}, ${endpointId}, ${type}, ${url}, ${sql.param(body, deliveries.body)}, ${bodyObjectKey}, ${state}, 0, null, ${nextTryAt}, ${createdAt}, null where ${isUnchanged}`,
    )
    .onConflictDoNothing()
}

function jobIsAt({ accountId, sql: database }: AccountDatabase, id: string, version: number): SQL {
  const found = database
    .select({ one: sql`1` })
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.accountId, accountId), eq(jobs.version, version)))
  return sql`exists ${found}`
}
