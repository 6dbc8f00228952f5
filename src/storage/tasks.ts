import { and, eq, getTableColumns, sql } from "drizzle-orm"
import type { TaskWork } from "../contract/task.ts"
import type { AccountDatabase, Database } from "./database.ts"
import type { TaskAttempt } from "./objects.ts"
import type { HeldPlan } from "../plans.ts"
import { accounts, plans } from "./schema/accounts.ts"
import { files } from "./schema/files.ts"
import type { File } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import { taskInputs, tasks } from "./schema/tasks.ts"
import type { Task } from "./schema/tasks.ts"
import { selectSecrets } from "./task-secrets.ts"
import { selectSnapshot, toSnapshot } from "./transitions.ts"
import type { JobSnapshot } from "./transitions.ts"

/** What a runner is told of an input, and where that comes from. */
type InputFile = Pick<File, "id" | "name" | "sizeBytes" | "probe" | "source">

const { id, name, sizeBytes, probe, source } = getTableColumns(files)
const inputFile = { id, name, sizeBytes, probe, source }

/** A claimed task with its inputs; `plan` is the account's, null where there is no such account. */
export type ClaimedTask = {
  task: Task
  inputs: { key: string; objectKey: string | null; file: InputFile | null }[]
  plan: HeldPlan | null
  /** Its job as the claim left it. */
  snapshot: JobSnapshot
  /** As `openSecrets` takes them; null where it has none. */
  sealedSecrets: string | null
  /** The moment that the claim was made by. */
  claimedAt: number
}

/**
 * Claims a waiting task of an open job for an allocated slot and raises its fence; its job goes on
 * waiting until a runner takes it. Repeated with the same allocation it answers the same claim.
 * Null: the task is somebody else's, or over.
 */
export async function claimTask(
  { accountId, sql: database }: AccountDatabase,
  claim: { taskId: string; jobId: string; slot: string; allocation: number; now: number },
): Promise<ClaimedTask | null> {
  const isTask = and(eq(tasks.id, claim.taskId), eq(tasks.accountId, accountId))
  const isJobOpen = sql`exists (select 1 from ${jobs} where ${jobs.id} = ${claim.jobId} and ${jobs.state} in ('waiting', 'running'))`
  const isClaimed = sql`exists (select 1 from ${tasks} where ${isTask} and ${tasks.state} = 'running' and ${tasks.slot} = ${claim.slot} and ${tasks.allocation} = ${claim.allocation})`
  const [, , , job, jobTasks, jobFiles, jobInputs, inputs, [plan = null], secrets] =
    await database.batch([
      database
        .update(tasks)
        .set({
          state: "running",
          fence: sql`fence + 1`,
          slot: claim.slot,
          allocation: claim.allocation,
        })
        .where(and(isTask, eq(tasks.state, "waiting"), isJobOpen)),
      database
        .update(jobs)
        .set({
          version: sql`version + 1`,
          acceptedAt: sql`coalesce(accepted_at, ${claim.now})`,
        })
        .where(
          and(eq(jobs.id, claim.jobId), sql`${jobs.state} in ('waiting', 'running')`, isClaimed),
        ),
      database
        .update(taskInputs)
        .set({ objectKey: sql`(select object_key from files where files.id = file_id)` })
        .where(and(eq(taskInputs.taskId, claim.taskId), isClaimed)),
      ...selectSnapshot({ accountId, sql: database }, claim.jobId),
      database
        .select({
          key: taskInputs.key,
          objectKey: taskInputs.objectKey,
          file: inputFile,
        })
        .from(taskInputs)
        .leftJoin(files, eq(files.id, taskInputs.fileId))
        .where(eq(taskInputs.taskId, claim.taskId)),
      selectPlan(database, accountId),
      selectSecrets(database, claim.taskId),
    ])
  const snapshot = toSnapshot([job, jobTasks, jobFiles, jobInputs])
  const task = jobTasks.find(({ id: taskId }) => taskId === claim.taskId)
  if (!snapshot || task?.state !== "running") return null
  if (task.slot !== claim.slot || task.allocation !== claim.allocation) return null
  const sealedSecrets = secrets.length === 0 ? null : secrets.map(({ sealed }) => sealed).join("")
  return { task, snapshot, inputs, plan, sealedSecrets, claimedAt: claim.now }
}

/** Whether a task runs at this fence now: what every call of a runner must prove. */
export async function isRunningAt(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
): Promise<boolean> {
  const rows = await database
    .select({ id: tasks.id })
    .from(tasks)
    .where(runsAt(accountId, attempt))
    .limit(1)
  return rows.length === 1
}

/** The keys of the outputs of a task that runs at this fence; null where it does not. */
export async function findOutputKeys(
  database: AccountDatabase,
  attempt: TaskAttempt,
): Promise<string[] | null> {
  const work = await findWork(database, attempt)
  return work && outputKeysOf(work)
}

/**
 * What a task that runs at this fence is to do, without its fields other than kind and outputs where
 * it is too large for its row; null where it does not run.
 */
export async function findWork(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
): Promise<TaskWork | null> {
  const [row] = await database
    .select({ work: tasks.work })
    .from(tasks)
    .where(runsAt(accountId, attempt))
    .limit(1)
  return row?.work ?? null
}

export function outputKeysOf({ outputs = [] }: TaskWork): string[] {
  return outputs.map(({ key }) => key)
}

/** Where an input of a task that runs at this fence is stored; null where it may not be read. */
export async function findInputObject(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
  key: string,
): Promise<string | null> {
  const [row] = await database
    .select({ objectKey: taskInputs.objectKey })
    .from(taskInputs)
    .innerJoin(tasks, eq(tasks.id, taskInputs.taskId))
    .where(and(runsAt(accountId, attempt), eq(taskInputs.key, key)))
    .limit(1)
  return row?.objectKey ?? null
}

/** The condition of a task that runs at a fence. */
export function runsAt(accountId: string, { taskId, fence }: TaskAttempt) {
  return and(
    eq(tasks.id, taskId),
    eq(tasks.accountId, accountId),
    eq(tasks.fence, fence),
    eq(tasks.state, "running"),
  )
}

/** An input of a task, and its file where that is still there. */
export type TaskInputRow = {
  taskId: string
  key: string
  fileId: string
  awaitsProbe: boolean
  file: File | null
}

/** The inputs of a job's tasks, with the files that are still there. */
export async function withFiles(
  { accountId, sql: database }: AccountDatabase,
  inputs: readonly Omit<TaskInputRow, "file">[],
): Promise<TaskInputRow[]> {
  const ids = JSON.stringify(inputs.map(({ fileId }) => fileId))
  const known = await database
    .select()
    .from(files)
    .where(
      and(
        sql`${files.id} in (select value from json_each(${ids}))`,
        eq(files.accountId, accountId),
      ),
    )
  const byId = new Map(known.map((file) => [file.id, file]))
  return inputs.map((input) => ({ ...input, file: byId.get(input.fileId) ?? null }))
}

/** The plan of the account; null where there is no such account. */
export async function findPlan({
  accountId,
  sql: database,
}: AccountDatabase): Promise<HeldPlan | null> {
  const [plan = null] = await selectPlan(database, accountId)
  return plan
}

function selectPlan(database: Database, accountId: string) {
  return database
    .select({ plan: accounts.plan, ownLimits: plans.limits })
    .from(accounts)
    .leftJoin(plans, eq(plans.name, accounts.plan))
    .where(eq(accounts.id, accountId))
    .limit(1)
}
