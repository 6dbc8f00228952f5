import { env } from "cloudflare:workers"
import { expect } from "vitest"
import type { Env } from "../../../src/bindings/env.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"
import type { Report } from "../../../src/contract/report.ts"
import type { TaskResult } from "../../../src/contract/task.ts"
import { handleRunnerReport } from "../../../src/jobs/settle/settle.ts"
import { openAccountDatabases } from "../../../src/db/database.ts"
import type { Task } from "../../../src/db/schema/tasks.ts"
import { listOpenTasks } from "../../../src/db/jobs/open-tasks.ts"
import type { InputReadiness } from "../../../src/db/jobs/open-tasks.ts"
import { getDispatcher } from "../../../src/bindings/durable-objects.ts"
import { claimTask } from "../../../src/db/jobs/tasks.ts"
import { readJobSnapshot } from "../../../src/db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../../../src/domain/snapshot.ts"
import { TEST_BOOT_ID } from "../media/bundle.ts"

/**
 * Outcome of a task as the runner's last report contains it: a result, or a failure with its blame.
 */
export type ReportedTaskEnd =
  | { result: TaskResult }
  | { failure: { code: FailureCode; message: string }; blame?: "caller" | "ours" }

/** Reads a job with its tasks and files from D1. Throws if the job does not exist. */
export async function readJob(accountId: string, jobId: string): Promise<JobSnapshot> {
  const snapshot = await readJobSnapshot(openAccountDatabases(env, accountId), jobId)
  if (!snapshot) throw new Error(`the job ${jobId} is gone`)
  return snapshot
}

/** Returns a task of a job by its kind. If there are several, `isMeant` selects the task. */
export async function findTaskByKind(
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

/** Returns the state of a task's inputs, or null for a task that has ended. */
export async function readInputReadiness(
  accountId: string,
  taskId: string,
): Promise<InputReadiness | null> {
  const [open] = await listOpenTasks(openAccountDatabases(env, accountId), [taskId])
  return open?.inputs ?? null
}

/**
 * Claims a task whose inputs are ready, and reports its end as a runner does. Returns the service's
 * decision about the report. The service handles the report with the bindings of `settleEnv`.
 */
export async function claimAndEndTask(
  { id: taskId, jobId, accountId }: Pick<Task, "id" | "jobId" | "accountId">,
  end: ReportedTaskEnd,
  settleEnv: Env = env,
): Promise<string> {
  const database = openAccountDatabases(env, accountId)
  // Waits until the account's dispatcher has handled earlier calls: an empty call returns only
  // after them.
  await getDispatcher(env, accountId).accept(accountId, [])
  expect(await readInputReadiness(accountId, taskId)).not.toBe("pending")
  await claimTask(database, { taskId, jobId, slot: "x-0", allocation: 2 ** 45, now: Date.now() })
  // The dispatcher may have claimed the task before this function did. The report therefore uses
  // the fencing token that is now in D1.
  const { tasks } = await readJob(accountId, jobId)
  const fence = tasks.find(({ id }) => id === taskId)?.fence ?? 0
  return await handleRunnerReport(settleEnv, { accountId, jobId, taskId, fence }, reportOf(end))
}

function reportOf(end: ReportedTaskEnd): Report {
  const moment = { boot: TEST_BOOT_ID, at: new Date().toISOString(), processing_seconds: 1 }
  if ("result" in end) return { ...moment, kind: "finished", result: end.result }
  const { blame = "caller", failure } = end
  return { ...moment, kind: "failed", blame, failure: { ...failure, lines: ["a line"] } }
}

/** Returns the outcome of an import (a task that downloads a URL) that stored a file. */
export function makeImportEnd(changes: Record<string, unknown> = {}): ReportedTaskEnd {
  const facts = { name: "film.webm", size_bytes: 7, content_type: "video/webm" }
  return { result: { kind: "import", ...facts, is_resumable: false, ...changes } }
}

/** Result of a successful probe. */
export const PROBE_RESULT: TaskResult = {
  kind: "probe",
  probe: { width: 4, height: 2, duration: 1, format_name: "webm", streams: [], format: {} },
}

/** Outcome of a successful probe. */
export const PROBE_TASK_END: ReportedTaskEnd = { result: PROBE_RESULT }

export const NOT_FOUND_TASK_END: ReportedTaskEnd = {
  failure: { code: "not_found", message: "The server says that there is no such file (404)." },
}
