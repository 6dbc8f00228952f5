import { isLateAllocation, isPlausibleAllocation } from "../../src/contract/slot-allocation.ts"
import { log } from "../log.ts"
import type { Places } from "../sandbox/places.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { RunnerSettings } from "../settings.ts"
import { runFacts } from "../tasks/run-context.ts"
import type { RunStatus } from "../tasks/run-context.ts"
import { openDiskSpace } from "./disk-space.ts"
import type { DiskRoom, Reservation } from "./disk-space.ts"
import { runTask } from "./run-task.ts"
import type { AcceptedTask, RunControllers, RunnerContext } from "./run-task.ts"

/**
 * Whether a task was begun, or why not; `no room` where the disk has none beside the others, `leaving` where
 * the process ends.
 */
export type Acceptance = "accepted" | "stale" | "busy" | "implausible" | "no room" | "leaving"

/** The runs of a process: those in progress, and the last ones that ended. */
export type Runs = {
  /** Starts a task unless something is against it; a repeat of an accepted order changes nothing. */
  accept(task: AcceptedTask, sandbox: Sandbox): Promise<Acceptance>
  find(taskId: string): RunStatus | null
  /** Ends a task's run at this fence or below; resolves when its processes are gone. */
  kill(taskId: string, fence: number): Promise<boolean>
  /** Begins no further task. */
  leave(): void
  /** Resolves when all runs of this moment have reported their ends. */
  ended(): Promise<void>
  /** Interrupts all runs; resolves when each has reported that. */
  interruptAll(): Promise<void>
  countRunning(): number
}

/** A run and its two ends: its resources are released, and its last report is sent. */
type RunEntry = {
  pool: string
  status: RunStatus
  controllers: RunControllers
  released: Promise<void>
  reported: Promise<void>
}

/** What a run starts with: its room, and the end of the run that it replaces. */
type Start = {
  room: Exclude<DiskRoom, "no room">
  reservation: Reservation | null
  replaced: Promise<void> | undefined
}

const ENDED_RUNS_MAX = 1000

/**
 * Opens the runs of a process that does at most `settings.capacity` tasks of each pool at once, so
 * that short tasks do not wait for long ones. Tasks take what is prepared for them in `places`.
 */
export function openRuns(settings: RunnerSettings, places: Places): Runs {
  const entries = new Map<string, RunEntry>()
  const highestAllocations = new Map<string, number>()
  const disk = openDiskSpace(settings)
  let isLeaving = false
  /** Nothing is awaited in here, so that no two tasks get the same slot or the same room. */
  function begin(task: AcceptedTask, sandbox: Sandbox, used?: Map<string, number>): Acceptance {
    const { task_id: taskId, fence, slot, allocation } = task.order
    const known = entries.get(taskId)
    if (known?.status.fence === fence) return "accepted"
    if (known && known.status.fence > fence) return "stale"
    if (isLeaving) return "leaving"
    const now = Date.now()
    if (!isPlausibleAllocation(allocation, now)) return "implausible"
    const highest = highestAllocations.get(slot) ?? 0
    if (isLateAllocation({ allocation, highest, now })) return "stale"
    highestAllocations.set(slot, allocation)
    const others = runningIn(entries).filter((entry) => entry !== known && entry.pool === task.pool)
    if (others.length >= settings.capacity) return "busy"
    const room = disk.find(task.order, settings.capacity - others.length, used)
    if (room === "no room") return room
    const reservation = "workspaceBytes" in room ? disk.reserve(task.order, room) : null
    known?.controllers.kill.abort("replaced")
    entries.delete(taskId)
    const runner = { settings, sandbox, places }
    const entry = startRun(task, runner, { room, reservation, replaced: known?.released })
    void entry.released.then(() => reservation?.release())
    entries.set(taskId, entry)
    forgetOldest(entries)
    return "accepted"
  }
  return {
    async accept(task, sandbox) {
      const acceptance = begin(task, sandbox)
      if (acceptance !== "no room") return acceptance
      // What others have written already is no longer free, and not to be counted twice.
      return begin(task, sandbox, await disk.measureUsed())
    },
    find(taskId) {
      return entries.get(taskId)?.status ?? null
    },
    async kill(taskId, fence) {
      const known = entries.get(taskId)
      if (!known || known.status.fence > fence) return false
      const wasRunning = known.status.state === "running"
      known.controllers.kill.abort("deleted")
      await known.released
      return wasRunning
    },
    leave() {
      isLeaving = true
    },
    ended: () => reportsOf(entries),
    async interruptAll() {
      for (const { controllers } of entries.values()) controllers.interrupt.abort("interrupted")
      await reportsOf(entries)
    },
    countRunning: () => runningIn(entries).length,
  }
}

/** Starts a run once the one that it replaces has released its resources. */
function startRun(
  task: AcceptedTask,
  runner: RunnerContext,
  { room, reservation, replaced }: Start,
): RunEntry {
  const { task_id: taskId, job_id: jobId, request_id: requestId = null, fence, work } = task.order
  const controllers = { kill: new AbortController(), interrupt: new AbortController() }
  const status: RunStatus = {
    taskId,
    jobId,
    requestId,
    fence,
    state: "running",
    phase: "waiting",
    processStartedAt: null,
    processingMs: 0,
  }
  const released = Promise.withResolvers<void>()
  log("info", "task.accepted", { ...runFacts(status), kind: work.kind })
  async function run(): Promise<void> {
    await replaced
    const control = {
      status,
      controllers,
      room,
      onWorkspace: (folder: string) => reservation?.workIn(folder),
      onReleased: released.resolve,
    }
    await runTask(task, control, runner)
  }
  return { pool: task.pool, status, controllers, released: released.promise, reported: run() }
}

function runningIn(entries: Map<string, RunEntry>): RunEntry[] {
  return Array.from(entries.values()).filter(({ status }) => status.state === "running")
}

async function reportsOf(entries: Map<string, RunEntry>): Promise<void> {
  await Promise.all(Array.from(entries.values(), ({ reported }) => reported))
}

function forgetOldest(entries: Map<string, RunEntry>): void {
  for (const [taskId, { status }] of entries) {
    if (entries.size <= ENDED_RUNS_MAX) return
    if (status.state === "done") entries.delete(taskId)
  }
}
