import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { z } from "zod"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Statement } from "./database.ts"
import type { NewDelivery } from "./deliveries.ts"
import { deliveries } from "./schema/deliveries.ts"
import { unfoldTasks } from "./ended-tasks.ts"
import { files } from "./schema/files.ts"
import type { File } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"
import { isFinal } from "./schema/states.ts"
import { taskInputs, tasks, taskSecrets } from "./schema/tasks.ts"
import type { Task } from "./schema/tasks.ts"
import { garbage } from "./schema/uploads.ts"
import type { Upload } from "./schema/uploads.ts"
import { deleteSecrets } from "./task-secrets.ts"
import { takeUploads } from "./uploads.ts"
import { countEnd } from "./usage.ts"
import type { CountedEnd } from "./usage.ts"

/** One consistent read of a job, its tasks and its files; what transitions are computed from. */
export type JobSnapshot = { job: Job; tasks: Task[]; files: File[]; inputs: SnapshotInput[] }

/** An input of a task of the job. */
export type SnapshotInput = Pick<
  typeof taskInputs.$inferSelect,
  "taskId" | "key" | "fileId" | "awaitsProbe"
>

export async function readSnapshot(
  database: AccountDatabase,
  jobId: string,
): Promise<JobSnapshot | null> {
  return toSnapshot(await database.sql.batch(selectSnapshot(database, jobId)))
}

/** The statements of `readSnapshot`. */
export function selectSnapshot({ accountId, sql: database }: AccountDatabase, jobId: string) {
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
    database.select().from(files).where(filesOf(accountId, jobId)),
    database
      .select({ taskId, key, fileId, awaitsProbe })
      .from(taskInputs)
      .innerJoin(tasks, eq(tasks.id, taskInputs.taskId))
      .where(and(eq(tasks.jobId, jobId), eq(tasks.accountId, accountId))),
  ] as const
}

/** What the statements of `readSnapshot` came to; null where there is no such job. */
export function toSnapshot([[job], jobTasks, jobFiles, inputs]: readonly [
  Job[],
  Task[],
  File[],
  SnapshotInput[],
]): JobSnapshot | null {
  return job ? { job, tasks: jobTasks, files: jobFiles, inputs, ...unfoldTasks(job) } : null
}

/**
 * The condition of the files of a job. By the plus the index of accounts does not serve, which SQLite
 * would take for as good as that of jobs, and would read every file of the account by.
 */
export function filesOf(accountId: string, jobId: string): SQL | undefined {
  return and(eq(files.jobId, jobId), sql`+${files.accountId} = ${accountId}`)
}

/** What one transition of a job writes; pure code makes it from a snapshot. */
export type Transition = {
  job: Partial<Job>
  tasks: { id: string; set: Partial<Task> }[]
  files: { id: string; set: Partial<File> }[]
  garbage: { prefix: string }[]
  /** The webhook that tells of the job's end. */
  delivery?: NewDelivery
  /** The end of a job that its account asked for. */
  ended?: CountedEnd
  /** Its large values, which are its rows' own once it is written. */
  valueUploads?: Pick<Upload, "id">[]
}

/**
 * Writes a transition in one batch that holds only if the job is still at `version`, and raises it
 * (optimistic concurrency). False where the job changed meanwhile: read again and compute anew.
 */
export async function applyTransition(
  database: AccountDatabase,
  applied: { jobId: string; version: number; transition: Transition; now: number },
): Promise<boolean> {
  const { accountId, sql: db } = database
  const { jobId, version, transition } = applied
  const isUnchanged = jobIsAt(database, jobId, version)
  const raiseVersion = db
    .update(jobs)
    .set({ ...transition.job, version: version + 1 })
    .where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId), eq(jobs.version, version)))
    .returning({ id: jobs.id })
  const results = await runBatch(db, [
    ...changeTasks(database, applied, isUnchanged),
    ...groupChanges(transition.files).map(({ ids, set }) =>
      db
        .update(files)
        .set(set)
        .where(and(sql`${files.id} in (select value from json_each(${ids}))`, isUnchanged)),
    ),
    ...insertPrefixes(database, applied, isUnchanged),
    ...deleteEndedSecrets(database, applied, isUnchanged),
    ...takeUploads(
      database,
      (transition.valueUploads ?? []).map(({ id }) => id),
      isUnchanged,
    ),
    ...(transition.delivery ? [insertOnce(database, transition.delivery, isUnchanged)] : []),
    ...(transition.ended ? [countEnd(database, transition.ended, isUnchanged)] : []),
    raiseVersion,
  ])
  return z.array(z.unknown()).parse(results.at(-1)).length === 1
}

/** Changes tasks; those of a job that is over and keeps them in its own row are removed. */
function changeTasks(
  { sql: db }: AccountDatabase,
  { jobId, transition }: { jobId: string; transition: Transition },
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

/** Changes that are the same for several rows are one statement; `ids` are a JSON array. */
function groupChanges(changes: Transition["files"]): { ids: string; set: Partial<File> }[] {
  const groups = Map.groupBy(changes, ({ set }) => JSON.stringify(set))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first ? [{ ids: JSON.stringify(group.map(({ id }) => id)), set: first.set }] : []
  })
}

/** Forgets the secrets of tasks that are over, and those of all where their job is. */
function deleteEndedSecrets(
  database: AccountDatabase,
  { jobId, transition: { job, tasks: changed } }: { jobId: string; transition: Transition },
  isUnchanged: SQL,
): Statement[] {
  if (job.state && isFinal(job.state)) return [deleteSecrets(database, jobId, isUnchanged)]
  const ended = changed.filter(({ set }) => set.state && isFinal(set.state)).map(({ id }) => id)
  if (ended.length === 0) return []
  const ofThem = sql`${taskSecrets.taskId} in (select value from json_each(${JSON.stringify(ended)}))`
  return [deleteSecrets(database, jobId, and(isUnchanged, ofThem))]
}

/** A task may have been dispatched a thousand times, so that all its prefixes are one statement. */
function insertPrefixes(
  { sql: database }: AccountDatabase,
  { transition, now }: { transition: Transition; now: number },
  isUnchanged: SQL,
): Statement[] {
  const prefixes = transition.garbage.map(({ prefix }) => prefix)
  if (prefixes.length === 0) return []
  const rows = sql`select value, null, ${now}, 0 from json_each(${JSON.stringify(prefixes)}) where ${isUnchanged}`
  return [database.insert(garbage).select(rows).onConflictDoNothing()]
}

/** Inserts the delivery of a job's end, of which there is one at most. */
function insertOnce(
  { accountId, sql: database }: AccountDatabase,
  made: NewDelivery,
  isUnchanged: SQL,
): Statement {
  const { id, jobId, type, url, body, bodyObjectKey = null, state, nextTryAt, createdAt } = made
  return database
    .insert(deliveries)
    .select(
      sql`select ${id}, ${accountId}, ${jobId}, ${type}, ${url}, ${sql.param(body, deliveries.body)}, ${bodyObjectKey}, ${state}, 0, null, ${nextTryAt}, ${createdAt}, null where ${isUnchanged}`,
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
