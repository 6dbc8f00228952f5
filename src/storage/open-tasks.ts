import { and, eq, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { Failure } from "../contract/failure.ts"
import type { TaskWork } from "../contract/task.ts"
import type { AccountDatabase } from "./database.ts"
import { files } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import type { State } from "./schema/states.ts"
import { taskInputs, tasks } from "./schema/tasks.ts"
import type { Task } from "./schema/tasks.ts"

/** Tasks that are read at once at most, by whoever may have more. */
export const OPEN_TASKS_MAX = 500

/** Whether an input can be read now, later, or never since its file failed to come or is gone. */
const READINESS = ["ready", "pending", "failed", "gone"] as const

export type Readiness = (typeof READINESS)[number]

/** An input that can never be read, by its key in the task; `failure` is why its file failed. */
export type LostInput = { key: string; failure: Failure | null }

/** A task that is not over, as far as its dispatcher needs it. */
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
  /** Null where the row names the pool. */
  work: TaskWork | null
  jobState: State
  /** Whether D1 knows that its dispatcher has its job. */
  isAccepted: boolean
  /** The readiness of the one that is least ready; of a running task they are ready. */
  inputs: Readiness
}

/** The work of a task whose row does not name its pool; null of any other. */
export const workWithoutPool =
  sql<TaskWork | null>`case when ${tasks.pool} is null then ${tasks.work} end`.mapWith(tasks.work)

/** The weights of all tasks of a task's job together. */
export const jobWeight = sql<number>`(select sum(weight) from tasks as every where every.job_id = ${tasks.jobId})`

/** The index in READINESS; the probe of a file reads it before it is over, for it is over with the probe. */
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
  work: workWithoutPool,
  // A batch's rows are told apart by the names of their columns.
  jobState: sql<State>`${jobs.state}`.as("job_state"),
  isAccepted: sql`${jobs.acceptedAt} is not null`.mapWith(Boolean),
  inputs:
    sql`case when ${tasks.state} = 'waiting' then (select coalesce(max(${readiness}), 0) from ${inputsOfTask}) else 0 end`.mapWith(
      (rank: number): Readiness => READINESS[rank] ?? "ready",
    ),
}

const isOpen = sql`${tasks.state} in ('waiting', 'running')`

/** Those of some tasks of the account that are open. */
export async function listOpenTasks(
  database: AccountDatabase,
  ids: readonly string[],
): Promise<OpenTask[]> {
  return await selectOpen(database, sql`select value from json_each(${JSON.stringify(ids)})`)
}

/**
 * Tasks that wait for what others make: `isWhole` is false where only the first OPEN_TASKS_MAX inputs
 * were looked at.
 */
export type Readers = { open: OpenTask[]; isWhole: boolean }

/** Those of some tasks that are open, and tasks that read the files of their jobs. */
export async function listOpenAndReaders(
  database: AccountDatabase,
  { ids, jobIds: ended }: { ids: readonly string[]; jobIds: readonly string[] },
): Promise<Readers> {
  const given = JSON.stringify(ids)
  // A job that is over has no rows of tasks any more.
  const jobIds = sql`select value from json_each(${JSON.stringify(ended)}) union all select job_id from ${tasks} where id in (select value from json_each(${given}))`
  const fileIds = sql`select id from ${files} where job_id in (${jobIds})`
  return await selectReaders(
    database,
    fileIds,
    sql`select value from json_each(${given}) union all`,
  )
}

/** Open tasks that read some files, which need not be there any more. */
export async function listReaders(
  database: AccountDatabase,
  fileIds: readonly string[],
): Promise<Readers> {
  const given = sql`select value from json_each(${JSON.stringify(fileIds)})`
  return await selectReaders(database, given, sql``)
}

async function selectReaders(
  database: AccountDatabase,
  fileIds: SQL,
  others: SQL,
): Promise<Readers> {
  const readers = sql`select task_id from ${taskInputs} where file_id in (${fileIds}) limit ${OPEN_TASKS_MAX}`
  const [open, [counted]] = await database.sql.batch([
    selectOpen(database, sql`${others} select task_id from (${readers})`),
    database.sql.select({ count: sql<number>`count(*)` }).from(sql`(${readers})`),
  ])
  return { open, isWhole: (counted?.count ?? 0) < OPEN_TASKS_MAX }
}

function selectOpen({ accountId, sql: database }: AccountDatabase, ids: SQL) {
  return database
    .select(openTask)
    .from(tasks)
    .innerJoin(jobs, eq(jobs.id, tasks.jobId))
    .where(and(sql`${tasks.id} in (${ids})`, eq(tasks.accountId, accountId), isOpen))
}

/** Why a task can never start: its inputs that are lost, those that are gone first. */
export async function listLostInputs(
  { accountId, sql: database }: AccountDatabase,
  taskId: string,
): Promise<LostInput[]> {
  const { errorCode, errorMessage } = files
  const rows = await database
    .select({ key: taskInputs.key, rank: readiness, errorCode, errorMessage })
    .from(tasks)
    .innerJoin(taskInputs, eq(taskInputs.taskId, tasks.id))
    .leftJoin(files, eq(files.id, taskInputs.fileId))
    .where(and(eq(tasks.id, taskId), eq(tasks.accountId, accountId), sql`${readiness} >= 2`))
  return rows.map(({ key, rank, errorCode: code, errorMessage: message }) => ({
    key,
    failure:
      READINESS[rank] === "gone"
        ? null
        : {
            code: code ?? "internal",
            message: message ?? "The job that was to make it failed.",
            lines: [],
          },
  }))
}

/** The ids of the account's running tasks, and some of those that wait: the next after an id. */
export async function listOpenIds(
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

/** The weights of all tasks of jobs together, by job. */
export async function sumJobWeights(
  { accountId, sql: database }: AccountDatabase,
  jobIds: readonly string[],
): Promise<Map<string, number>> {
  const given = sql`(select value from json_each(${JSON.stringify(jobIds)}))`
  const rows = await database
    .select({ jobId: tasks.jobId, weight: sql<number>`sum(${tasks.weight})` })
    .from(tasks)
    .where(and(sql`${tasks.jobId} in ${given}`, eq(tasks.accountId, accountId)))
    .groupBy(tasks.jobId)
  return new Map(rows.map((row) => [row.jobId, row.weight]))
}
