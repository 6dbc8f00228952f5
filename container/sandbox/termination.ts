import type { ChildProcess } from "node:child_process"
import { limitOutput } from "./output.ts"
import { watchFreeSpace } from "./free-space.ts"
import { watchMemory } from "./memory.ts"
import { openMeter } from "./meter.ts"
import type { Meter } from "./meter.ts"
import type { ProcessSpec, RunnerTermination } from "./process.ts"
import { watchUsage } from "./usage.ts"
import type { UsageWatch } from "./usage.ts"

/** Time from SIGTERM to SIGKILL; none where the process is to stop writing at once. */
const GRACE_MS: Record<RunnerTermination, number> = {
  time_limit: 2000,
  aborted: 1000,
  disk_full: 0,
  disk_limit: 0,
  out_of_memory: 0,
  output_limit: 0,
}

/** The longest delay that a timer accepts. */
const TIMER_MS_MAX = 2 ** 31 - 1

const running = new Set<ChildProcess>()

// A detached process group would outlive this process, however that ends.
process.on("exit", () => {
  for (const child of running) killGroup(child, "SIGKILL")
})

/**
 * Terminates the group of a process at the first of its limits, or when the signal aborts. `stop`
 * ends the supervision and returns the cause of a termination; `end` also looks at the workspace
 * once more, with `meter` where there is one already; `wasDiskFull` says whether the disk of the
 * workspace had no space left at some time.
 */
export function superviseProcess(
  child: ChildProcess,
  spec: ProcessSpec,
  meter: Meter | null,
): {
  stop: () => RunnerTermination | null
  end: () => Promise<RunnerTermination | null>
  wasDiskFull: () => boolean
} {
  let cause: RunnerTermination | null = null
  let graceTimer: NodeJS.Timeout | undefined
  function terminate(because: RunnerTermination): void {
    if (cause !== null) return
    cause = because
    killGroup(child, GRACE_MS[because] > 0 ? "SIGTERM" : "SIGKILL")
    graceTimer = setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS[because])
  }
  function onAbort(): void {
    terminate("aborted")
  }
  const timeLimitMs = Math.min(spec.timeLimitMs, TIMER_MS_MAX)
  const limitTimer = setTimeout(() => terminate("time_limit"), timeLimitMs)
  const watch = watchWorkspace(child, spec, meter, () => terminate("disk_limit"))
  const freeSpace = watchDisk(spec, () => terminate("disk_full"))
  const { limits } = spec.taskSandbox.sandbox
  const endMemoryWatch = watchMemory(child.pid, limits.residentBytes, () =>
    terminate("out_of_memory"),
  )
  limitOutput(child, limits.logBytes, () => terminate("output_limit"))
  function stop(): RunnerTermination | null {
    clearTimeout(limitTimer)
    clearTimeout(graceTimer)
    watch?.stop()
    endMemoryWatch()
    spec.signal.removeEventListener("abort", onAbort)
    return cause
  }
  async function end(): Promise<RunnerTermination | null> {
    const isExceeded = (await watch?.end()) ?? false
    return stop() ?? (isExceeded ? "disk_limit" : null)
  }
  spec.signal.addEventListener("abort", onAbort)
  if (spec.signal.aborted) onAbort()
  // What is left of the group would keep the pipes open.
  child.once("exit", () => {
    stop()
    killGroup(child, "SIGKILL")
  })
  child.once("error", stop)
  return { stop, end, wasDiskFull: () => freeSpace?.end() ?? false }
}

function watchWorkspace(
  { pid }: ChildProcess,
  spec: ProcessSpec,
  opened: Meter | null,
  onExceeded: () => void,
): UsageWatch | null {
  if (spec.access !== "write") return null
  const limit = usageLimit(spec)
  const meter = opened ?? openMeter(spec.taskSandbox.sandbox.tier, spec.cwd, limit.files)
  const watched = { meter, folder: spec.cwd, pid, mayFork: spec.mayFork === true }
  return watchUsage(watched, limit, onExceeded)
}

function watchDisk({ access, cwd, taskSandbox }: ProcessSpec, onLow: () => void) {
  if (access !== "write") return null
  return watchFreeSpace(cwd, taskSandbox.sandbox.limits.diskReserveBytes, onLow)
}

function usageLimit({ taskSandbox, inputBytes = 0 }: ProcessSpec) {
  const { sandbox, workspaceBytes } = taskSandbox
  return { bytes: workspaceBytes + inputBytes, files: sandbox.limits.workspaceFiles }
}

/** Has the group of a child killed when this process exits. */
export function trackGroup(child: ChildProcess): void {
  running.add(child)
}

/** Forgets a child whose group is gone. */
export function untrackGroup(child: ChildProcess): void {
  running.delete(child)
}

/** Sends a signal to the process group that a child leads. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group is gone already, which is what the caller wants.
  }
}
