import {
  isStaleAllocationNumber,
  isPlausibleAllocationNumber,
} from "../../src/contract/slot-allocation.ts"
import { log } from "../log.ts"
import type { WarmSandboxPool } from "../sandbox/warm/warm-sandbox-pool.ts"
import type { Sandbox } from "../sandbox/sandbox.ts"
import type { RunnerSettings } from "../settings.ts"
import { runLogFields } from "../tasks/run-context.ts"
import type { RunStatus } from "../tasks/run-context.ts"
import { createDiskReservationManager } from "./disk-space.ts"
import type { TaskDiskSpace, DiskReservation } from "./disk-space.ts"
import { runTask } from "./run-task.ts"
import type { ParsedTaskOrder, RunAbortControllers, RunnerContext } from "./run-task.ts"

/**
 * Answer to an order of the Worker to run a task: `accepted`, or the reason for a refusal. `stale`:
 * a newer order of this task or for this slot was accepted. `busy`: all slots of the pool are in
 * use. `implausible`: the allocation number of the order, which is a timestamp, lies far in the
 * future. `no room`: running tasks use the disk space that the task needs. `leaving`: the runner is
 * shutting down.
 */
export type TaskOrderAnswer = "accepted" | "stale" | "busy" | "implausible" | "no room" | "leaving"

/** Task runs of a runner process: all runs in progress, and the runs that ended last. */
export type TaskRunManager = {
  /**
   * Starts the run of a task, or returns the reason why the order is refused. A repeated order that
   * was already accepted has no effect.
   */
  accept(task: ParsedTaskOrder, sandbox: Sandbox): Promise<TaskOrderAnswer>
  find(taskId: string): RunStatus | null
  /**
   * Kills the run of a task, unless the run's fence (number of the dispatch) is above `fence`.
   * Resolves when the processes of the run have ended. The result is true if the run was still in
   * progress.
   */
  kill(taskId: string, fence: number): Promise<boolean>
  /** Refuses all new tasks from now on. */
  leave(): void
  /** Resolves when all current runs have sent their last reports. */
  ended(): Promise<void>
  /** Interrupts all runs. Resolves when each run has reported that it was interrupted. */
  interruptAll(): Promise<void>
  countRunning(): number
}

/**
 * Run of a task. `released` resolves when the processes and the workspace of the run are removed.
 * `reported` resolves when the last report of the run is sent.
 */
type RunEntry = {
  pool: string
  status: RunStatus
  controllers: RunAbortControllers
  released: Promise<void>
  reported: Promise<void>
}

/**
 * Values for the start of a run: the disk space (`room`), its reservation, and a promise
 * (`replaced`) that resolves when the older run of the same task has released its resources.
 */
type Start = {
  room: Exclude<TaskDiskSpace, "no room">
  reservation: DiskReservation | null
  replaced: Promise<void> | undefined
}

const ENDED_RUNS_MAX = 1000

/**
 * Number of bytes that each running task has already written, by the name of the task's workspace.
 */
type UsedBytes = Map<string, number>

/**
 * Manages the runs of tasks in this process. At most `settings.capacity` tasks of each pool run at
 * the same time, so that short tasks do not wait for long ones. Tasks take warm sandboxes from
 * `warmPool`.
 */
export function createTaskRunManager(
  settings: RunnerSettings,
  warmPool: WarmSandboxPool,
): TaskRunManager {
  const entries = new Map<string, RunEntry>()
  const highestAllocations = new Map<string, number>()
  const disk = createDiskReservationManager(settings)
  let isLeaving = false
  /**
   * Checks the order of a task and starts its run. Contains no `await`, because two tasks could
   * otherwise get the same slot or disk space.
   */
  function begin(task: ParsedTaskOrder, sandbox: Sandbox, used?: UsedBytes): TaskOrderAnswer {
    const { task_id: taskId, fence, slot, allocation } = task.order
    const previous = entries.get(taskId)
    if (previous?.status.fence === fence) return "accepted"
    if (previous && previous.status.fence > fence) return "stale"
    if (isLeaving) return "leaving"
    const now = Date.now()
    if (!isPlausibleAllocationNumber(allocation, now)) return "implausible"
    const highest = highestAllocations.get(slot) ?? 0
    if (isStaleAllocationNumber({ allocation, highest, now })) return "stale"
    highestAllocations.set(slot, allocation)
    const others = runningIn(entries).filter((run) => run !== previous && run.pool === task.pool)
    if (others.length >= settings.capacity) return "busy"
    const room = disk.find(task.order, settings.capacity - others.length, used)
    if (room === "no room") return room
    const reservation = "workspaceBytes" in room ? disk.reserve(task.order, room) : null
    previous?.controllers.kill.abort("replaced")
    entries.delete(taskId)
    const runner = { settings, sandbox, warmPool }
    const entry = startRun(task, runner, { room, reservation, replaced: previous?.released })
    void entry.released.then(() => reservation?.release())
    entries.set(taskId, entry)
    forgetOldest(entries)
    return "accepted"
  }
  return {
    async accept(task, sandbox) {
      const acceptance = begin(task, sandbox)
      if (acceptance !== "no room") return acceptance
      // Measures the disk usage of the running tasks, and tries again. Bytes that a running task
      // has already written are then not subtracted as reserved space too.
      return begin(task, sandbox, await disk.measureUsed())
    },
    find: (taskId) => entries.get(taskId)?.status ?? null,
    async kill(taskId, fence) {
      const entry = entries.get(taskId)
      if (!entry || entry.status.fence > fence) return false
      const wasRunning = entry.status.state === "running"
      entry.controllers.kill.abort("deleted")
      await entry.released
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

/**
 * Starts the run of a task. The run begins when the older run of the same task, if there is one,
 * has released its resources.
 */
function startRun(
  task: ParsedTaskOrder,
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
  log("info", "task.accepted", { ...runLogFields(status), kind: work.kind })
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
