import type { TaskOrder } from "../src/contract/task.ts"
import type { RunnerSettings } from "./environment.ts"
import type { Io } from "./io.ts"
import { log } from "./log.ts"
import type { Reporter } from "./report.ts"
import type { Jail } from "./sandbox/sandbox.ts"

export type Step = "waiting" | "preparing" | "downloading" | "working" | "uploading" | "reporting"

/** What others may know of a run at any time. */
export type RunStatus = {
  taskId: string
  jobId: string
  fence: number
  state: "running" | "done"
  step: Step
  /** When its first tool process began, ISO 8601. */
  processStartedAt: string | null
  /** Wall time of its tool processes so far. */
  processingMs: number
}

/** Everything that the steps of one task work with. */
export type Run = {
  order: TaskOrder
  settings: RunnerSettings
  status: RunStatus
  workspace: string
  jail: Jail
  io: Io
  reporter: Reporter
  /** Aborts when the run is to end, whatever the reason. */
  signal: AbortSignal
}

/** Notes that a tool began the task's own work. */
export function noteProcessStarted(run: Run, tool: string): void {
  const { taskId, jobId, fence } = run.status
  run.status.processStartedAt ??= new Date().toISOString()
  log("process.started", { task_id: taskId, job_id: jobId, fence, tool })
  run.reporter.started()
}

/** Seconds that a run's tools have worked, exact to the millisecond. */
export function processingSeconds(status: RunStatus): number {
  return Math.round(status.processingMs) / 1000
}
