import type { TaskOrder, TaskResult } from "../../src/contract/task.ts"
import type { TaskFailure } from "../task-failure.ts"
import { log } from "../log.ts"
import type { TaskSandbox } from "../sandbox/sandbox.ts"
import type { RunnerSettings } from "../settings.ts"
import type { RunIoClient } from "../transfer/worker-client.ts"
import type { RunReporter } from "../transfer/reporter.ts"

export type RunPhase =
  | "waiting"
  | "preparing"
  | "downloading"
  | "working"
  | "uploading"
  | "reporting"

/** Status of a run, which the runner returns for `GET /tasks/:id` during the run and afterwards. */
export type RunStatus = {
  taskId: string
  jobId: string
  /** Id of the request that created the job. */
  requestId: string | null
  fence: number
  state: "running" | "done"
  phase: RunPhase
  /** Start time of the run's first tool process, in ISO 8601; null until a tool has started. */
  processStartedAt: string | null
  /** Wall-clock time that the tool processes of the run have taken so far, in milliseconds. */
  processingMs: number
}

/** Context of a run, one attempt to execute a task: values that all phases of the run need. */
export type RunContext = {
  order: TaskOrder
  settings: RunnerSettings
  status: RunStatus
  workspace: string
  taskSandbox: TaskSandbox
  io: RunIoClient
  reporter: RunReporter
  /** Signal that aborts when the run must end early, for any reason. */
  signal: AbortSignal
}

/**
 * Outcome of a task: the result or a failure, and the log and standard output of the task's tools.
 */
export type TaskOutcome<Result = TaskResult> = ({ result: Result } | TaskFailure) & {
  log?: string
  stdout?: string
}

/**
 * Records the start of a tool in the run's status, logs it, and reports to the Worker that the work
 * on the task has started.
 */
export function markProcessStarted(context: RunContext, tool: string): void {
  context.status.processStartedAt ??= new Date().toISOString()
  log("info", "process.started", { ...runLogFields(context.status), tool })
  context.reporter.started()
}

/** Returns the fields that every log entry about a run contains. */
export function runLogFields({ requestId, jobId, taskId, fence }: RunStatus) {
  return { request_id: requestId, job_id: jobId, task_id: taskId, fence }
}
