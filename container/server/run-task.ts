import type { TaskOrder } from "../../src/contract/task.ts"
import { sumInputBytes } from "../../src/contract/task.ts"
import { RunnerError, createCallerFailure } from "../task-failure.ts"
import type { TaskFailure } from "../task-failure.ts"
import { log } from "../log.ts"
import type { WarmSandboxPool } from "../sandbox/warm/warm-sandbox-pool.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import {
  destroyTaskSandbox,
  releaseUnusedTaskSandbox,
  createTaskSandbox,
} from "../sandbox/task-sandbox.ts"
import { createWorkspace } from "../sandbox/workspace.ts"
import type { RunnerSettings } from "../settings.ts"
import type { ParsedTask, ParsedTaskRunner } from "../tasks/registry.ts"
import { runLogFields } from "../tasks/run-context.ts"
import type { RunContext, RunStatus } from "../tasks/run-context.ts"
import { createRunIoClient } from "../transfer/worker-client.ts"
import { createRunReporter } from "../transfer/reporter.ts"
import type { FinalReport } from "../transfer/reporter.ts"
import { formatBytes } from "../tools/format-bytes.ts"
import type { TaskDiskSpace } from "./disk-space.ts"

/**
 * Abort controllers that end a run early. `kill`: the Worker has canceled or replaced the run, so
 * the runner does not report the end of the run. `interrupt`: the runner shuts down and reports
 * that the run was interrupted.
 */
export type RunAbortControllers = { kill: AbortController; interrupt: AbortController }

/** Properties that all runs of a runner process share. */
export type RunnerContext = {
  settings: RunnerSettings
  sandbox: Sandbox
  warmPool: WarmSandboxPool
}

type RunControl = {
  status: RunStatus
  controllers: RunAbortControllers
  /** Disk space that the run may use. */
  room: Exclude<TaskDiskSpace, "no room">
  /** Called with the path of the run's workspace, once the workspace is created. */
  onWorkspace: (path: string) => void
  onReleased: () => void
}

/**
 * Order of the Worker to run a task, and the task that was parsed from the order. The runner may
 * still refuse the order.
 */
export type ParsedTaskOrder = ParsedTask & { order: TaskOrder }

/**
 * Runs a task from its order to its last report. Never throws. Calls `onReleased` when the
 * processes and the workspace of the task are removed, which may be before the last report is sent.
 */
export async function runTask(
  { order, run, pool }: ParsedTaskOrder,
  control: RunControl,
  { settings, sandbox, warmPool }: RunnerContext,
): Promise<void> {
  const { status, controllers, room } = control
  const { kill, interrupt } = controllers
  const io = createRunIoClient(order, settings, kill)
  const reporter = createRunReporter(io, settings.boot, kill)
  const signal = AbortSignal.any([kill.signal, interrupt.signal])
  const isTooLarge = "inputBytesMax" in room
  const workspaceBytes = isTooLarge ? 0 : room.workspaceBytes
  const prepared = isTooLarge ? null : warmPool.take(pool)
  const taskSandbox = prepared
    ? { ...prepared, workspaceBytes }
    : createTaskSandbox(sandbox, workspaceBytes)
  const context = { order, settings, status, io, reporter, signal, taskSandbox }
  const report: FinalReport | null = isTooLarge
    ? { kind: "failed", processing_seconds: 0, ...tooLarge(order, room.inputBytesMax) }
    : await runInWorkspace(context, run, control)
  if (isTooLarge) releaseUnusedTaskSandbox(taskSandbox)
  status.state = "done"
  status.phase = "reporting"
  control.onReleased()
  logEnd(status, report)
  if (report) await reporter.end(report)
  reporter.close()
}

/** Runs the task in a new workspace. Returns its last report, or null for a killed run. */
async function runInWorkspace(
  context: Omit<RunContext, "workspace">,
  run: ParsedTaskRunner,
  { controllers: { kill, interrupt }, onWorkspace }: RunControl,
): Promise<FinalReport | null> {
  const { status, settings, taskSandbox } = context
  let workspace: string | null = null
  try {
    context.signal.throwIfAborted()
    status.phase = "preparing"
    workspace =
      taskSandbox.warmSandbox?.folder ??
      (await createWorkspace(settings.workDir, status, taskSandbox.uid))
    onWorkspace(workspace)
    const outcome = await run({ ...context, workspace })
    const processing_seconds = processingSeconds(status)
    return "failure" in outcome
      ? { kind: "failed", processing_seconds, ...outcome }
      : { kind: "finished", processing_seconds, ...outcome }
  } catch (error) {
    if (kill.signal.aborted) return null
    const processing_seconds = processingSeconds(status)
    if (interrupt.signal.aborted) return { kind: "interrupted", processing_seconds }
    return { kind: "failed", processing_seconds, ...runnerFailure(status, error) }
  } finally {
    await destroyTaskSandbox(taskSandbox, workspace)
  }
}

function tooLarge({ inputs }: TaskOrder, bytesMax: number): TaskFailure {
  if (bytesMax < 0) {
    const full = `The runner's disk is full: it lacks ${formatBytes(-bytesMax)} for any work.`
    return createCallerFailure("disk_full", full)
  }
  const bytes = formatBytes(sumInputBytes(inputs))
  const message = `The inputs have ${bytes} together, and the runner's disk has room for ${formatBytes(bytesMax)}.`
  return createCallerFailure("inputs_too_large", message)
}

function runnerFailure(status: RunStatus, error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : null
  log("error", "task.error", { ...runLogFields(status), error: String(error), cause })
  const isKnown = error instanceof RunnerError
  const code = isKnown ? error.code : ("internal" as const)
  const message = isKnown ? error.message : "The runner failed."
  return { blame: "ours" as const, failure: { code, message, lines: [] } }
}

function logEnd(status: RunStatus, report: FinalReport | null): void {
  log("info", "task.ended", {
    ...runLogFields(status),
    ending: report?.kind ?? "killed",
    code: report?.kind === "failed" ? report.failure.code : undefined,
    processing_seconds: processingSeconds(status),
  })
}

/**
 * Returns the wall-clock time of the tool processes of a run, in seconds with millisecond
 * precision.
 */
function processingSeconds(status: RunStatus): number {
  return Math.round(status.processingMs) / 1000
}
