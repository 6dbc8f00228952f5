import { and, eq, getTableColumns, sql } from "drizzle-orm"
import type { TaskWork } from "../../contract/task.ts"
import type { AccountDatabase, Database } from "../database.ts"
import type { TaskAttempt } from "../../domain/object-keys.ts"
import type { AssignedPlan } from "../../domain/plans.ts"
import { accounts, plans } from "../schema/accounts.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import { taskInputs, tasks } from "../schema/tasks.ts"
import type { Task } from "../schema/tasks.ts"
import { selectTaskSecretsStatement } from "./task-secrets.ts"
import { selectSnapshotStatements, toJobSnapshot } from "./apply-transition.ts"
import type { JobSnapshot } from "../../domain/snapshot.ts"

/** Input of a task that was claimed. `file` is null if the file was deleted. */
export type ClaimedInput = {
  key: string
  fileId: string
  objectKey: string | null
  file: File | null
}

/**
 * Task that was claimed for a runner, with the task's inputs and the plan of the task's account.
 * `plan` is null if the account does not exist.
 */
export type ClaimedTask = {
  task: Task
  inputs: ClaimedInput[]
  plan: AssignedPlan | null
  /** Snapshot of the task's job after the claim. */
  snapshot: JobSnapshot
  /** Encrypted secrets of the task, for `decryptTaskSecrets`; null if the task has no secrets. */
  sealedSecrets: string | null
  /** Time of the claim, in milliseconds since 1970. */
  claimedAt: number
}

/**
 * Claims a waiting task of an open job for an allocated slot: sets the task to running and raises
 * its fencing token. The job keeps its state until a runner starts the task. A repeated claim for
 * the same allocation (the assignment of the slot to the task) returns the same result. Returns
 * null if another allocation has claimed the task, or if the task has ended.
 */
export async function claimTask(
  { accountId, sql: database }: AccountDatabase,
  claim: { taskId: string; jobId: string; slot: string; allocation: number; now: number },
): Promise<ClaimedTask | null> {
  const isTask = and(eq(tasks.id, claim.taskId), eq(tasks.accountId, accountId))
  const isJobOpen = sql`exists (select 1 from ${jobs} where ${jobs.id} = ${claim.jobId} and ${jobs.state} in ('waiting', 'running'))`
  const isClaimed = sql`exists (select 1 from ${tasks} where ${isTask} and ${tasks.state} = 'running' and ${tasks.slot} = ${claim.slot} and ${tasks.allocation} = ${claim.allocation})`
  const [, , , job, jobTasks, jobFiles, jobInputs, endpoints, inputs, [plan = null], secrets] =
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
      ...selectSnapshotStatements({ accountId, sql: database }, claim.jobId),
      database
        .select({
          key: taskInputs.key,
          fileId: taskInputs.fileId,
          // The names of all columns must differ, because D1 returns rows of a batch as objects.
          objectKey: sql<string | null>`${taskInputs.objectKey}`.as("input_object_key"),
          file: getTableColumns(files),
        })
        .from(taskInputs)
        .leftJoin(files, eq(files.id, taskInputs.fileId))
        .where(eq(taskInputs.taskId, claim.taskId)),
      selectPlan(database, accountId),
      selectTaskSecretsStatement(database, claim.taskId),
    ])
  const snapshot = toJobSnapshot([job, jobTasks, jobFiles, jobInputs, endpoints])
  const task = jobTasks.find(({ id: taskId }) => taskId === claim.taskId)
  if (!snapshot || task?.state !== "running") return null
  if (task.slot !== claim.slot || task.allocation !== claim.allocation) return null
  const sealedSecrets = secrets.length === 0 ? null : secrets.map(({ sealed }) => sealed).join("")
  return { task, snapshot, inputs, plan, sealedSecrets, claimedAt: claim.now }
}

/**
 * Reports whether a task runs with this fencing token. Every call that a runner makes for the task
 * must pass this check.
 */
export async function isTaskRunningAtFence(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
): Promise<boolean> {
  const rows = await database
    .select({ id: tasks.id })
    .from(tasks)
    .where(runningTaskCondition(accountId, attempt))
    .limit(1)
  return rows.length === 1
}

/**
 * Returns the keys by which a task names its outputs, such as `out_1`. Returns null if the task
 * does not run with this fencing token.
 */
export async function findRunningTaskOutputKeys(
  database: AccountDatabase,
  attempt: TaskAttempt,
): Promise<string[] | null> {
  const work = await findRunningTaskWork(database, attempt)
  return work && getTaskOutputKeys(work)
}

/**
 * Returns the description of a running task's work for its runner. Returns null if the task does
 * not run with this fencing token. If the description is too large for the task's row, the result
 * has only the kind and the outputs.
 */
export async function findRunningTaskWork(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
): Promise<TaskWork | null> {
  const [row] = await database
    .select({ work: tasks.work })
    .from(tasks)
    .where(runningTaskCondition(accountId, attempt))
    .limit(1)
  return row?.work ?? null
}

/** Returns the keys, such as `out_1`, of the outputs that a task has to write. */
export function getTaskOutputKeys({ outputs = [] }: TaskWork): string[] {
  return outputs.map(({ key }) => key)
}

/**
 * Returns the R2 key of an input of a task. Returns null if the task does not run with this fencing
 * token, or has no such input.
 */
export async function findTaskInputObjectKey(
  { accountId, sql: database }: AccountDatabase,
  attempt: TaskAttempt,
  key: string,
): Promise<string | null> {
  const [row] = await database
    .select({ objectKey: taskInputs.objectKey })
    .from(taskInputs)
    .innerJoin(tasks, eq(tasks.id, taskInputs.taskId))
    .where(and(runningTaskCondition(accountId, attempt), eq(taskInputs.key, key)))
    .limit(1)
  return row?.objectKey ?? null
}

/** Returns the SQL condition that selects a task if the task runs with a given fencing token. */
export function runningTaskCondition(accountId: string, { taskId, fence }: TaskAttempt) {
  return and(
    eq(tasks.id, taskId),
    eq(tasks.accountId, accountId),
    eq(tasks.fence, fence),
    eq(tasks.state, "running"),
  )
}

/** Input of a task with its file; `file` is null if the file was deleted. */
export type TaskInputWithFile = {
  taskId: string
  key: string
  fileId: string
  awaitsProbe: boolean
  file: File | null
}

/** Adds to each input of a task the file that the input reads; null if the file was deleted. */
export async function attachFilesToInputs(
  { accountId, sql: database }: AccountDatabase,
  inputs: readonly Omit<TaskInputWithFile, "file">[],
): Promise<TaskInputWithFile[]> {
  const ids = JSON.stringify(inputs.map(({ fileId }) => fileId))
  const rows = await database
    .select()
    .from(files)
    .where(
      and(
        sql`${files.id} in (select value from json_each(${ids}))`,
        eq(files.accountId, accountId),
      ),
    )
  const byId = new Map(rows.map((file) => [file.id, file]))
  return inputs.map((input) => ({ ...input, file: byId.get(input.fileId) ?? null }))
}

/** Returns the plan of the account; null if the account does not exist. */
export async function findAssignedPlan({
  accountId,
  sql: database,
}: AccountDatabase): Promise<AssignedPlan | null> {
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
