import type { ChildProcess } from "node:child_process"
import { watchPipedBytes } from "./tool-output.ts"
import { watchFreeDiskSpace } from "./disk-sizes.ts"
import { watchProcessTreeMemory } from "./memory.ts"
import { createWorkspaceMeter } from "./workspace-meter.ts"
import type { WorkspaceMeter, WorkspaceUsage } from "./workspace-meter.ts"
import type { ToolProcessSpec, RunnerTerminationCause } from "./tool-process.ts"
import { measureDeletedFiles } from "./deleted-files.ts"

/**
 * Time between SIGTERM and SIGKILL for each cause of a termination, in milliseconds. If the time is
 * 0, SIGKILL is sent at once, so that the process stops writing.
 */
const GRACE_MS: Record<RunnerTerminationCause, number> = {
  time_limit: 2000,
  aborted: 1000,
  disk_full: 0,
  disk_limit: 0,
  out_of_memory: 0,
  output_limit: 0,
  stdout_limit: 0,
}

/** Longest delay that a timer of Node accepts, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1

const running = new Set<ChildProcess>()

// Kills the process groups of running tools when this process exits, since detached process groups
// would continue to run.
process.on("exit", () => {
  for (const child of running) killProcessGroup(child, "SIGKILL")
})

/**
 * Supervises a tool: terminates its process group when the tool exceeds a limit or the signal
 * aborts. `stop` ends the supervision and returns the cause of a termination, or null. `end`, for a
 * tool that has exited, measures the workspace a last time and then does the same as `stop`.
 * `wasDiskFull` reports whether the disk of the workspace was full at any time. If `meter` is null,
 * a new meter of the workspace is opened.
 */
export function superviseProcess(
  child: ChildProcess,
  spec: ToolProcessSpec,
  meter: WorkspaceMeter | null,
): {
  stop: () => RunnerTerminationCause | null
  end: () => Promise<RunnerTerminationCause | null>
  wasDiskFull: () => boolean
} {
  let cause: RunnerTerminationCause | null = null
  let graceTimer: NodeJS.Timeout | undefined
  function terminate(because: RunnerTerminationCause): void {
    if (cause !== null) return
    cause = because
    killProcessGroup(child, GRACE_MS[because] > 0 ? "SIGTERM" : "SIGKILL")
    graceTimer = setTimeout(() => killProcessGroup(child, "SIGKILL"), GRACE_MS[because])
  }
  function onAbort(): void {
    terminate("aborted")
  }
  const timeLimitMs = Math.min(spec.timeLimitMs, TIMER_MS_MAX)
  const limitTimer = setTimeout(() => terminate("time_limit"), timeLimitMs)
  const watch = watchWorkspace(child, spec, meter, () => terminate("disk_limit"))
  const freeSpace = watchDisk(spec, () => terminate("disk_full"))
  const { limits } = spec.taskSandbox.sandbox
  const endMemoryWatch = watchProcessTreeMemory(child.pid, limits.residentBytes, () =>
    terminate("out_of_memory"),
  )
  const [stdin, stdout, ...others] = child.stdio
  const texts = spec.onStdout ? [stdin, ...others] : [stdin, stdout, ...others]
  watchPipedBytes(texts, limits.logBytes, () => terminate("output_limit"))
  if (spec.onStdout) watchPipedBytes([stdout], limits.fileBytes, () => terminate("stdout_limit"))
  function stop(): RunnerTerminationCause | null {
    clearTimeout(limitTimer)
    clearTimeout(graceTimer)
    watch?.stop()
    endMemoryWatch()
    spec.signal.removeEventListener("abort", onAbort)
    return cause
  }
  async function end(): Promise<RunnerTerminationCause | null> {
    const isExceeded = (await watch?.end()) ?? false
    return stop() ?? (isExceeded ? "disk_limit" : null)
  }
  spec.signal.addEventListener("abort", onAbort)
  if (spec.signal.aborted) onAbort()
  // Kills processes of the group that still run after the tool's exit, since these processes would
  // keep the pipes open.
  child.once("exit", () => {
    stop()
    killProcessGroup(child, "SIGKILL")
  })
  child.once("error", stop)
  return { stop, end, wasDiskFull: () => freeSpace?.end() ?? false }
}

function watchWorkspace(
  { pid }: ChildProcess,
  spec: ToolProcessSpec,
  opened: WorkspaceMeter | null,
  onExceeded: () => void,
): UsageWatch | null {
  if (spec.access !== "write") return null
  const limit = usageLimit(spec)
  const meter = opened ?? createWorkspaceMeter(spec.taskSandbox.sandbox.tier, spec.cwd, limit.files)
  const watched = { meter, folder: spec.cwd, pid, mayFork: spec.mayFork === true }
  return watchUsage(watched, limit, onExceeded)
}

function watchDisk({ access, cwd, taskSandbox }: ToolProcessSpec, onLow: () => void) {
  if (access !== "write") return null
  return watchFreeDiskSpace(cwd, taskSandbox.sandbox.limits.diskReserveBytes, onLow)
}

function usageLimit({ taskSandbox, inputBytes = 0 }: ToolProcessSpec) {
  const { sandbox, workspaceBytes } = taskSandbox
  return { bytes: workspaceBytes + inputBytes, files: sandbox.limits.workspaceFiles }
}

/**
 * Registers the process group of a child process, so that the group is killed when this process
 * exits.
 */
export function killProcessGroupOnExit(child: ChildProcess): void {
  running.add(child)
}

/** Removes a child process from the registered process groups after its group has ended. */
export function unregisterProcessGroup(child: ChildProcess): void {
  running.delete(child)
}

/** Sends a signal to the process group that a child process leads. */
export function killProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // Ignores the error of kill(), which means that the process group has already ended.
  }
}

const USAGE_POLL_MS = 200
/**
 * Number of polls of the workspace after which deleted files that are still open are measured too.
 * This measurement is slow, because it reads /proc.
 */
const POLLS_PER_DELETED = 5

/**
 * Handle of the polls that measure the disk usage of a workspace. `stop` ends the polls. `end`
 * measures once more and reports whether the limit is exceeded, since a process may exceed the
 * limit after the last poll.
 */
type UsageWatch = { stop(): void; end(): Promise<boolean> }

type WatchTarget = {
  meter: WorkspaceMeter
  folder: string
  pid: number | undefined
  mayFork: boolean
}

/**
 * Measures a workspace five times a second, and once a second also deleted files that the process
 * still holds open. Calls `onExceeded` once, when the limit is exceeded. `end` closes the meter. If
 * the tool must not start child processes, `end` assumes that the workspace no longer changes, and
 * measures faster.
 */
function watchUsage(
  { meter, folder, pid, mayFork }: WatchTarget,
  limit: WorkspaceUsage,
  onExceeded: () => void,
): UsageWatch {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let polls = 0
  function exceeds({ bytes, files }: WorkspaceUsage, deletedBytes: number): boolean {
    return bytes + deletedBytes > limit.bytes || files > limit.files
  }
  async function poll(): Promise<void> {
    polls += 1
    const deletedBytes =
      polls % POLLS_PER_DELETED === 0 ? await measureDeletedFiles(folder, pid) : 0
    const isExceeded = exceeds(await meter.measure(), deletedBytes)
    if (isStopped) return
    if (isExceeded) onExceeded()
    else schedule()
  }
  // Schedules the next poll after the end of the last poll, since a poll takes long if there are
  // many files.
  function schedule(): void {
    timer = setTimeout(() => void poll(), USAGE_POLL_MS)
  }
  function stop(): void {
    isStopped = true
    clearTimeout(timer)
  }
  schedule()
  return {
    stop,
    async end() {
      stop()
      const usage = await (mayFork ? meter.measure() : meter.measureAtRest())
      meter.close()
      return exceeds(usage, 0)
    },
  }
}
