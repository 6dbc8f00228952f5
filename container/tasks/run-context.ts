import type { TaskOrder, TaskResult } from "../../src/contract/task.ts"
import type { TaskFailure } from "../failures.ts"
import { log } from "../log.ts"
import type { TaskSandbox } from "../sandbox/sandbox.ts"
import type { RunnerSettings } from "../settings.ts"
import type { IoClient } from "../transfer/io-client.ts"
import type { Reporter } from "../transfer/reporter.ts"

export type RunPhase =
  | "waiting"
  | "preparing"
  | "downloading"
  | "working"
  | "uploading"
  | "reporting"

/** State of a run that the runner shows while it is in progress and afterwards. */
export type RunStatus = {
  taskId: string
  jobId: string
  /** The request that made the job. */
  requestId: string | null
  fence: number
  state: "running" | "done"
  phase: RunPhase
  /** When its first tool process started, ISO 8601. */
  processStartedAt: string | null
  /** Wall time of its tool processes so far. */
  processingMs: number
}

/** Everything that the phases of one run work with. */
export type RunContext = {
  order: TaskOrder
  settings: RunnerSettings
  status: RunStatus
  workspace: string
  taskSandbox: TaskSandbox
  io: IoClient
  reporter: Reporter
  /** Aborts when the run is to end, for whatever reason. */
  signal: AbortSignal
}

/** What a task ends with: its result, or the failure of the caller's work; and what its tools said. */
export type TaskOutcome<Result = TaskResult> = ({ result: Result } | TaskFailure) & {
  log?: string
}

/** Records, logs and reports that a tool started the task's own work. */
export function markProcessStarted(context: RunContext, tool: string): void {
  context.status.processStartedAt ??= new Date().toISOString()
  log("info", "process.started", { ...runFacts(context.status), tool })
  context.reporter.started()
}

/** What every entry of the log says of a run that it is about. */
export function runFacts({ requestId, jobId, taskId, fence }: RunStatus) {
  return { request_id: requestId, job_id: jobId, task_id: taskId, fence }
}
