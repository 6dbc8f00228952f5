import type { TaskOrder } from "../src/contract/task.ts"
import type { RunnerSettings } from "./environment.ts"
import { openIo } from "./io.ts"
import { log } from "./log.ts"
import { openReporter } from "./report.ts"
import type { Ending } from "./report.ts"
import { processingSeconds } from "./run.ts"
import type { Run, RunStatus } from "./run.ts"
import { RunnerError } from "./runner-error.ts"
import type { Sandbox } from "./sandbox/sandbox.ts"
import { closeJail, openJail } from "./sandbox/uids.ts"
import { runCommandTask } from "./tasks/command.ts"
import { runProbeTask } from "./tasks/probe.ts"
import { makeWorkspace, removeWorkspace } from "./workspace.ts"

/** How a run is ended from outside: killed, nobody wants it; interrupted, we have to go. */
export type RunSwitches = { kill: AbortController; interrupt: AbortController }

/** What a process has for doing tasks. */
export type Means = { settings: RunnerSettings; sandbox: Sandbox }

/**
 * Does one task from its order to its last report and never throws. `onReleased` is called when its
 * processes and its workspace are gone; only the last report may still be on its way then.
 */
export async function runTask(
  task: { order: TaskOrder; status: RunStatus; switches: RunSwitches; onReleased: () => void },
  { settings, sandbox }: Means,
): Promise<void> {
  const { order, status, switches } = task
  const { kill, interrupt } = switches
  const io = openIo(order, settings.boot, kill)
  const reporter = openReporter(io, settings.boot, kill)
  const signal = AbortSignal.any([kill.signal, interrupt.signal])
  const jail = openJail(sandbox)
  const ending = await work({ order, settings, status, io, reporter, signal, jail }, switches)
  closeJail(jail)
  status.state = "done"
  status.step = "reporting"
  task.onReleased()
  logEnd(status, ending)
  if (ending) await reporter.end(ending)
  reporter.close()
}

/** The work between two reports; null where nobody is to hear of its end. */
async function work(
  run: Omit<Run, "workspace">,
  { kill, interrupt }: RunSwitches,
): Promise<Ending | null> {
  const { status, settings } = run
  let workspace: string | null = null
  try {
    run.signal.throwIfAborted()
    status.step = "preparing"
    workspace = await makeWorkspace(settings.workDir, status, run.jail.uid)
    return await doTask({ ...run, workspace })
  } catch (error) {
    if (kill.signal.aborted) return null
    const processing_seconds = processingSeconds(status)
    if (interrupt.signal.aborted) return { kind: "interrupted", processing_seconds }
    return { kind: "failed", processing_seconds, ...ourFailure(status, error) }
  } finally {
    if (workspace !== null) await clear(workspace, status)
  }
}

function doTask(run: Run): Promise<Ending> {
  const task = run.order.work
  switch (task.kind) {
    case "probe":
      return runProbeTask(run)
    case "command":
      return runCommandTask(run, task)
  }
}

function ourFailure(status: RunStatus, error: unknown) {
  const { taskId, jobId } = status
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : null
  log("task.error", { task_id: taskId, job_id: jobId, error: String(error), cause })
  const isKnown = error instanceof RunnerError
  const code = isKnown ? error.code : ("internal" as const)
  const message = isKnown ? error.message : "The runner failed."
  return { blame: "ours" as const, failure: { code, message, lines: [] } }
}

async function clear(workspace: string, { taskId, jobId }: RunStatus): Promise<void> {
  try {
    await removeWorkspace(workspace)
  } catch (error) {
    log("workspace.left", { task_id: taskId, job_id: jobId, error: String(error) })
  }
}

function logEnd(status: RunStatus, ending: Ending | null): void {
  log("task.ended", {
    task_id: status.taskId,
    job_id: status.jobId,
    fence: status.fence,
    ending: ending?.kind ?? "killed",
    code: ending?.kind === "failed" ? ending.failure.code : undefined,
    processing_seconds: processingSeconds(status),
  })
}
