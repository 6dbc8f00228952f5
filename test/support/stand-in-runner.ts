import { env } from "cloudflare:workers"
import { expect } from "vitest"
import type { FailureCode } from "../../src/contract/failure.ts"
import type { Report } from "../../src/contract/report.ts"
import type { TaskResult } from "../../src/contract/task.ts"
import { receiveReport } from "../../src/pipeline/settle/settle.ts"
import { databaseOf } from "../../src/storage/database.ts"
import type { Task } from "../../src/storage/schema/tasks.ts"
import { listOpenTasks } from "../../src/storage/open-tasks.ts"
import type { Readiness } from "../../src/storage/open-tasks.ts"
import { dispatcherOf } from "../../src/placement.ts"
import { claimTask } from "../../src/storage/tasks.ts"
import { readSnapshot } from "../../src/storage/transitions.ts"
import type { JobSnapshot } from "../../src/storage/transitions.ts"
import { BOOT } from "./bundle.ts"

/** What a runner says at the end of a task. */
export type TaskEnd =
  | { result: TaskResult }
  | { failure: { code: FailureCode; message: string }; blame?: "caller" | "ours" }

/** The job's rows as they are now. */
export async function readJob(accountId: string, jobId: string): Promise<JobSnapshot> {
  const snapshot = await readSnapshot(databaseOf(env, accountId), jobId)
  if (!snapshot) throw new Error(`the job ${jobId} is gone`)
  return snapshot
}

/** The task of a job of this kind; of several, the one that `isMeant`. */
export async function findTask(
  accountId: string,
  jobId: string,
  kind: string,
  isMeant: (task: Task) => boolean = () => true,
): Promise<Task> {
  const { tasks } = await readJob(accountId, jobId)
  const task = tasks.find((each) => each.work.kind === kind && isMeant(each))
  if (!task) throw new Error(`the job ${jobId} has no such task of the kind ${kind}`)
  return task
}

/** How ready the inputs of a task are; null of one that is over. */
export async function readinessOf(accountId: string, taskId: string): Promise<Readiness | null> {
  const [open] = await listOpenTasks(databaseOf(env, accountId), [taskId])
  return open?.inputs ?? null
}

/** Takes a task whose inputs are ready, as a runner, and ends it; answers what its report came to. */
export async function endTask(
  { id: taskId, jobId, accountId }: Pick<Task, "id" | "jobId" | "accountId">,
  end: TaskEnd,
): Promise<string> {
  const database = databaseOf(env, accountId)
  // What was on its way to the dispatcher is there then.
  await dispatcherOf(env, accountId).accept(accountId, [])
  expect(await readinessOf(accountId, taskId)).not.toBe("pending")
  await claimTask(database, { taskId, jobId, slot: "x-0", allocation: 2 ** 45, now: Date.now() })
  // The dispatcher may have been first; the report then comes at its fence.
  const { tasks } = await readJob(accountId, jobId)
  const fence = tasks.find(({ id }) => id === taskId)?.fence ?? 0
  return await receiveReport(env, { accountId, jobId, taskId, fence }, reportOf(end))
}

function reportOf(end: TaskEnd): Report {
  const moment = { boot: BOOT, at: new Date().toISOString(), processing_seconds: 1 }
  if ("result" in end) return { ...moment, kind: "finished", result: end.result }
  const { blame = "caller", failure } = end
  return { ...moment, kind: "failed", blame, failure: { ...failure, lines: ["a line"] } }
}

/** What an import reports that stored a file. */
export function imported(changes: Record<string, unknown> = {}): TaskEnd {
  const facts = { name: "film.webm", size_bytes: 7, content_type: "video/webm" }
  return { result: { kind: "import", ...facts, is_resumable: false, ...changes } }
}

/** What a probe of media comes to. */
export const probed: TaskResult = {
  kind: "probe",
  probe: { width: 4, height: 2, duration: 1, format_name: "webm", streams: [], format: {} },
}

/** What a probe reports of media. */
export const PROBED: TaskEnd = { result: probed }

export const NOT_FOUND: TaskEnd = {
  failure: { code: "not_found", message: "The server says that there is no such file (404)." },
}
