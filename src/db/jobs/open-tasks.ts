import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { Failure } from "../../contract/failure.ts"
import type { AccountDatabase } from "../database.ts"
import { files } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import { isCallerFileSource } from "../../domain/states.ts"
import type { State } from "../../domain/states.ts"
import { taskInputs, tasks } from "../schema/tasks.ts"
import type { Task } from "../schema/tasks.ts"

/**
 * Maximum number of tasks that one query returns when it searches the tasks that read given files.
 */
export const FILE_READING_TASKS_PER_QUERY_MAX = 500

/**
 * Readiness of a task's input: `ready` can be read now, and `pending` can be read later. `failed`
 * and `gone` can never be read: the file failed, or it was deleted.
 */
const READINESS = ["ready", "pending", "failed", "gone"] as const

export type InputReadiness = (typeof READINESS)[number]

/**
 * Input of a task that can never be read. `key` names the input. `failure` is the failure of its
 * file, and `neededJobId` the job that should have written the file as an output; both are null if
 * the file was deleted. An imported file has no `neededJobId`.
 */
export type UnreadableInput = { key: string; failure: Failure | null; neededJobId: string | null }

/** Fields of an open task (waiting or running) that its dispatcher needs. */
export type OpenTask = Pick<
  Task,
  | "id"
  | "jobId"
  | "state"
  | "fence"
  | "priority"
  | "weight"
  | "pool"
  | "slot"
  | "allocation"
  | "failures"
  | "interruptions"
  | "createdAt"
  | "requeuedAt"
> & {
  jobState: State
  /** Whether the dispatcher has accepted the job, according to D1. */
  isAccepted: boolean
  /** Readiness of the least ready input of the task; `ready` for a running task. */
  inputs: InputReadiness
}

/**
 * SQL for the sum of the weights of all tasks of a task's job. A task's share in the job's progress
 * is its weight divided by this sum.
 */
export const sumTaskWeightsOfJobSql = sql<number>`(select sum(weight) from tasks as every where every.job_id = ${tasks.jobId})`

/**
 * SQL for the readiness of a task's input, as an index in READINESS. The task that probes a file
 * may read the file although it has not succeeded yet, because the file succeeds only after its
 * probe.
 */
const readiness = sql<number>`case
  when ${files.id} is null then 3
  when ${files.objectKey} is not null and (${files.state} not in ('waiting', 'running') or (${files.jobId} = ${tasks.jobId} and not ${taskInputs.awaitsProbe})) then 0
  when ${files.state} in ('waiting', 'running') then 1
  else 2 end`

const inputsOfTask = sql`${taskInputs} left join ${files} on ${files.id} = ${taskInputs.fileId} where ${taskInputs.taskId} = ${tasks.id}`

const openTask = {
  id: tasks.id,
  jobId: tasks.jobId,
  state: tasks.state,
  fence: tasks.fence,
  priority: tasks.priority,
  weight: tasks.weight,
  pool: tasks.pool,
  slot: tasks.slot,
  allocation: tasks.allocation,
  failures: tasks.failures,
  interruptions: tasks.interruptions,
  createdAt: tasks.createdAt,
  requeuedAt: tasks.requeuedAt,
  // The column names must differ, because D1 returns rows of a batch as objects with the names as
  // keys.
  jobState: sql<State>`${jobs.state}`.as("job_state"),
  isAccepted: sql`${jobs.acceptedAt} is not null`.mapWith(Boolean),
  inputs:
    sql`case when ${tasks.state} = 'waiting' then (select coalesce(max(${readiness}), 0) from ${inputsOfTask}) else 0 end`.mapWith(
      (rank: number): InputReadiness => READINESS[rank] ?? "ready",
    ),
}

const isOpen = sql`${tasks.state} in ('waiting', 'running')`

/** Returns the given tasks that are open and belong to the account. */
export async function listOpenTasks(
  database: AccountDatabase,
  ids: readonly string[],
): Promise<OpenTask[]> {
  return await selectOpen(database, sql`select value from json_each(${JSON.stringify(ids)})`)
}

/**
 * Open tasks that read some files. `isWhole` is false if more than FILE_READING_TASKS_PER_QUERY_MAX
 * tasks read the files, so that the list is incomplete.
 */
export type FileReadingTasks = { open: OpenTask[]; isWhole: boolean }

/**
 * Returns the open ones of the given tasks (`ids`), and the open tasks that read files of these
 * tasks' jobs. Also returns the open tasks that read files of the jobs `jobIds`.
 */
export async function listOpenTasksAndReaders(
  database: AccountDatabase,
  { ids, jobIds: endedJobIds }: { ids: readonly string[]; jobIds: readonly string[] },
): Promise<FileReadingTasks> {
  const idList = JSON.stringify(ids)
  // The end of a job deletes the rows of its tasks, from which the query below reads the jobs' ids.
  // The caller therefore passes the ids of finished jobs.
  const jobIds = sql`select value from json_each(${JSON.stringify(endedJobIds)}) union all select job_id from ${tasks} where id in (select value from json_each(${idList}))`
  const fileIds = sql`select id from ${files} where job_id in (${jobIds})`
  return await selectReaders(
    database,
    fileIds,
    sql`select value from json_each(${idList}) union all`,
  )
}

/** Returns the open tasks that read the given files, which may already be deleted. */
export async function listTasksReadingFiles(
  database: AccountDatabase,
  fileIds: readonly string[],
): Promise<FileReadingTasks> {
  const fileIdRows = sql`select value from json_each(${JSON.stringify(fileIds)})`
  return await selectReaders(database, fileIdRows, sql``)
}

async function selectReaders(
  database: AccountDatabase,
  fileIds: SQL,
  others: SQL,
): Promise<FileReadingTasks> {
  const readers = sql`select task_id from ${taskInputs} where file_id in (${fileIds}) limit ${FILE_READING_TASKS_PER_QUERY_MAX}`
  const [open, [countRow]] = await database.sql.batch([
    selectOpen(database, sql`${others} select task_id from (${readers})`),
    database.sql.select({ count: sql<number>`count(*)` }).from(sql`(${readers})`),
  ])
  return { open, isWhole: (countRow?.count ?? 0) < FILE_READING_TASKS_PER_QUERY_MAX }
}

function selectOpen({ accountId, sql: database }: AccountDatabase, ids: SQL) {
  return database
    .select(openTask)
    .from(tasks)
    .innerJoin(jobs, eq(jobs.id, tasks.jobId))
    .where(and(sql`${tasks.id} in (${ids})`, eq(tasks.accountId, accountId), isOpen))
}

/**
 * Returns the inputs of a task that can never be read. A task with such an input can never start.
 */
export async function listUnreadableInputs(
  { accountId, sql: database }: AccountDatabase,
  taskId: string,
): Promise<UnreadableInput[]> {
  const { errorCode, errorMessage, source, jobId } = files
  const rows = await database
    .select({ key: taskInputs.key, rank: readiness, errorCode, errorMessage, source, jobId })
    .from(tasks)
    .innerJoin(taskInputs, eq(taskInputs.taskId, tasks.id))
    .leftJoin(files, eq(files.id, taskInputs.fileId))
    .where(and(eq(tasks.id, taskId), eq(tasks.accountId, accountId), sql`${readiness} >= 2`))
  return rows.map(({ key, rank, errorCode: code, errorMessage: message, ...file }) => ({
    key,
    neededJobId: file.source === null || isCallerFileSource(file.source) ? null : file.jobId,
    failure:
      READINESS[rank] === "gone"
        ? null
        : {
            code: code ?? "internal",
            message: message ?? "The job that writes the file failed.",
            lines: [],
          },
  }))
}

/**
 * Returns the ids of all running tasks of the account, and a page of the ids of its waiting tasks.
 * The page begins with the first id greater than `after`.
 */
export async function listOpenTaskIds(
  { accountId, sql: database }: AccountDatabase,
  { after, limit }: { after: string; limit: number },
): Promise<{ running: string[]; waiting: string[] }> {
  function select(open: "waiting" | "running", begin: string) {
    return database
      .select({ id: tasks.id })
      .from(tasks)
      .where(and(eq(tasks.accountId, accountId), isOpen, sql`state = ${open}`, sql`id > ${begin}`))
      .orderBy(tasks.id)
  }
  const [running, waiting] = await database.batch([
    select("running", ""),
    select("waiting", after).limit(limit),
  ])
  return { running: running.map((row) => row.id), waiting: waiting.map((row) => row.id) }
}

/** Returns for each job id the sum of the weights of the job's tasks. */
export async function sumTaskWeightsByJob(
  { accountId, sql: database }: AccountDatabase,
  jobIds: readonly string[],
): Promise<Map<string, number>> {
  const jobIdRows = sql`(select value from json_each(${JSON.stringify(jobIds)}))`
  const rows = await database
    .select({ jobId: tasks.jobId, weight: sql<number>`sum(${tasks.weight})` })
    .from(tasks)
    .where(and(sql`${tasks.jobId} in ${jobIdRows}`, eq(tasks.accountId, accountId)))
    .groupBy(tasks.jobId)
  return new Map(rows.map((row) => [row.jobId, row.weight]))
}

/**
 * Returns the time, in milliseconds since 1970, at which the last of a job's inputs from other jobs
 * was complete. Returns 0 if the job has no such input, and null while such an input is pending.
 */
export async function findLastInputCompletedAt(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
): Promise<number | null> {
  const isPending = sql`${files.state} in ('waiting', 'running')`
  const [row] = await database
    .select({
      pending: sql<number>`coalesce(sum(${isPending}), 0)`,
      lastAt: sql<number>`coalesce(max(${files.completedAt}), 0)`,
    })
    .from(tasks)
    .innerJoin(taskInputs, eq(taskInputs.taskId, tasks.id))
    .innerJoin(files, eq(files.id, taskInputs.fileId))
    .where(
      and(
        eq(tasks.jobId, jobId),
        eq(tasks.accountId, accountId),
        sql`${files.jobId} <> ${tasks.jobId}`,
      ),
    )
  return row && row.pending === 0 ? row.lastAt : null
}
