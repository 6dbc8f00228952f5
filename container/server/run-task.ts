import type { TaskOrder } from "../../src/contract/task.ts"
import { inputBytesOf } from "../../src/contract/task.ts"
import { RunnerError, callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import { log } from "../log.ts"
import type { Places } from "../sandbox/places.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import { closeTaskSandbox, dropTaskSandbox, openTaskSandbox } from "../sandbox/task-sandbox.ts"
import { makeWorkspace } from "../sandbox/workspace.ts"
import type { RunnerSettings } from "../settings.ts"
import type { ParsedTask, RunnableTask } from "../tasks/registry.ts"
import { runFacts } from "../tasks/run-context.ts"
import type { RunContext, RunStatus } from "../tasks/run-context.ts"
import { openIoClient } from "../transfer/io-client.ts"
import { openReporter } from "../transfer/reporter.ts"
import type { FinalReport } from "../transfer/reporter.ts"
import { formatBytes } from "../tools/format-bytes.ts"
import type { DiskRoom } from "./disk-space.ts"

/**
 * How a run is ended from outside: `kill` where the Worker no longer wants it, so that nothing is
 * reported; `interrupt` where the runner shuts down.
 */
export type RunControllers = { kill: AbortController; interrupt: AbortController }

/** What all runs of a process share. */
export type RunnerContext = { settings: RunnerSettings; sandbox: Sandbox; places: Places }

type RunControl = {
  status: RunStatus
  controllers: RunControllers
  /** What the disk has for it. */
  room: Exclude<DiskRoom, "no room">
  /** Called with the folder that the task works in. */
  onWorkspace: (path: string) => void
  onReleased: () => void
}

/** An order with its parsed task. */
export type AcceptedTask = ParsedTask & { order: TaskOrder }

/**
 * Does one task from its order to its last report; never throws. `onReleased` is called when its
 * processes and its workspace are gone, while the last report may still be in flight.
 */
export async function runTask(
  { order, run, pool }: AcceptedTask,
  control: RunControl,
  { settings, sandbox, places }: RunnerContext,
): Promise<void> {
  const { status, controllers, room } = control
  const { kill, interrupt } = controllers
  const io = openIoClient(order, settings, kill)
  const reporter = openReporter(io, settings.boot, kill)
  const signal = AbortSignal.any([kill.signal, interrupt.signal])
  const isTooLarge = "inputBytesMax" in room
  const workspaceBytes = isTooLarge ? 0 : room.workspaceBytes
  const prepared = isTooLarge ? null : places.take(pool)
  const taskSandbox = prepared
    ? { ...prepared, workspaceBytes }
    : openTaskSandbox(sandbox, workspaceBytes)
  const context = { order, settings, status, io, reporter, signal, taskSandbox }
  const report: FinalReport | null = isTooLarge
    ? { kind: "failed", processing_seconds: 0, ...tooLarge(order, room.inputBytesMax) }
    : await runInWorkspace(context, run, control)
  if (isTooLarge) dropTaskSandbox(taskSandbox)
  status.state = "done"
  status.phase = "reporting"
  control.onReleased()
  logEnd(status, report)
  if (report) await reporter.end(report)
  reporter.close()
}

/** Runs the task in a workspace that no other has had; returns its last report, null for a killed run. */
async function runInWorkspace(
  context: Omit<RunContext, "workspace">,
  run: RunnableTask,
  { controllers: { kill, interrupt }, onWorkspace }: RunControl,
): Promise<FinalReport | null> {
  const { status, settings, taskSandbox } = context
  let workspace: string | null = null
  try {
    context.signal.throwIfAborted()
    status.phase = "preparing"
    workspace =
      taskSandbox.place?.folder ?? (await makeWorkspace(settings.workDir, status, taskSandbox.uid))
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
    await closeTaskSandbox(taskSandbox, workspace)
  }
}

function tooLarge({ inputs }: TaskOrder, bytesMax: number): TaskFailure {
  if (bytesMax < 0) {
    const full = `The disk that the work is done on is full: it lacks ${formatBytes(-bytesMax)} for any work.`
    return callerFailure("disk_full", full)
  }
  const bytes = formatBytes(inputBytesOf(inputs))
  const message = `The inputs have ${bytes} together, and the disk that the work is done on can hold ${formatBytes(bytesMax)} of them.`
  return callerFailure("inputs_too_large", message)
}

function runnerFailure(status: RunStatus, error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : null
  log("error", "task.error", { ...runFacts(status), error: String(error), cause })
  const isKnown = error instanceof RunnerError
  const code = isKnown ? error.code : ("internal" as const)
  const message = isKnown ? error.message : "The runner failed."
  return { blame: "ours" as const, failure: { code, message, lines: [] } }
}

function logEnd(status: RunStatus, report: FinalReport | null): void {
  log("info", "task.ended", {
    ...runFacts(status),
    ending: report?.kind ?? "killed",
    code: report?.kind === "failed" ? report.failure.code : undefined,
    processing_seconds: processingSeconds(status),
  })
}

/** Wall time of a run's tool processes in seconds, exact to the millisecond. */
function processingSeconds(status: RunStatus): number {
  return Math.round(status.processingMs) / 1000
}
