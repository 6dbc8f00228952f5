import { isLateGrant, isPlausibleGrant } from "../src/contract/grant.ts"
import type { TaskOrder } from "../src/contract/task.ts"
import type { RunnerSettings } from "./environment.ts"
import { log } from "./log.ts"
import type { RunStatus } from "./run.ts"
import { runTask } from "./run-task.ts"
import type { Means, RunSwitches } from "./run-task.ts"
import type { Sandbox } from "./sandbox/sandbox.ts"

/** The runs of a process: those under way, and the last ones that ended. */
export type Runs = {
  /** Takes an order where nothing speaks against it; a repeat of a taken one changes nothing. */
  accept(order: TaskOrder, sandbox: Sandbox): "accepted" | "stale" | "busy" | "implausible"
  find(taskId: string): RunStatus | null
  /** Ends a task's run at this fence or below; resolves when its processes are gone. */
  kill(taskId: string, fence: number): Promise<boolean>
  /** Interrupts all runs; resolves when each has said so. */
  interruptAll(): Promise<void>
  countRunning(): number
}

type Held = {
  status: RunStatus
  switches: RunSwitches
  released: Promise<void>
  reported: Promise<void>
}

const ENDED_MAX = 1000

/** Opens the runs of a process that does at most `settings.capacity` tasks at once. */
export function openRuns(settings: RunnerSettings): Runs {
  const held = new Map<string, Held>()
  const grants = new Map<string, number>()
  function running(): Held[] {
    return Array.from(held.values()).filter(({ status }) => status.state === "running")
  }
  return {
    accept(order, sandbox) {
      const known = held.get(order.task_id)
      if (known?.status.fence === order.fence) return "accepted"
      if (known && known.status.fence > order.fence) return "stale"
      const now = Date.now()
      if (!isPlausibleGrant(order.grant, now)) return "implausible"
      const highest = grants.get(order.slot) ?? 0
      if (isLateGrant({ grant: order.grant, highest, now })) return "stale"
      grants.set(order.slot, order.grant)
      if (running().filter((each) => each !== known).length >= settings.capacity) return "busy"
      known?.switches.kill.abort("replaced")
      held.delete(order.task_id)
      held.set(order.task_id, begin(order, { settings, sandbox }, known?.released))
      forgetOldest(held)
      return "accepted"
    },
    find(taskId) {
      return held.get(taskId)?.status ?? null
    },
    async kill(taskId, fence) {
      const known = held.get(taskId)
      if (!known || known.status.fence > fence) return false
      const wasRunning = known.status.state === "running"
      known.switches.kill.abort("deleted")
      await known.released
      return wasRunning
    },
    async interruptAll() {
      for (const { switches } of held.values()) switches.interrupt.abort("interrupted")
      await Promise.all(Array.from(held.values(), ({ reported }) => reported))
    },
    countRunning: () => running().length,
  }
}

function begin(order: TaskOrder, means: Means, before?: Promise<void>): Held {
  const { task_id: taskId, job_id: jobId, fence } = order
  const switches = { kill: new AbortController(), interrupt: new AbortController() }
  const status: RunStatus = {
    taskId,
    jobId,
    fence,
    state: "running",
    step: "waiting",
    processStartedAt: null,
    processingMs: 0,
  }
  const released = Promise.withResolvers<void>()
  log("task.accepted", { task_id: taskId, job_id: jobId, fence, kind: order.work.kind })
  async function run(): Promise<void> {
    await before
    await runTask({ order, status, switches, onReleased: released.resolve }, means)
  }
  return { status, switches, released: released.promise, reported: run() }
}

function forgetOldest(held: Map<string, Held>): void {
  for (const [taskId, { status }] of held) {
    if (held.size <= ENDED_MAX) return
    if (status.state === "done") held.delete(taskId)
  }
}
