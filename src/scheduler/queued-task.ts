import { LEASE_DURATION_MS } from "../contract/protocol.ts"
import type { LostRunnerProcess, SlotAllocation, TaskMessage } from "../bindings/rpc.ts"
import type { OpenTask } from "../db/jobs/open-tasks.ts"

// Defines the states of a queued task and their transitions. No other file writes a state.
//
//   blocked ⇄ ready ─▶ starting ─▶ posting ─▶ running
//               ▲─────────┴───────────┴──────────┘ requeued

/**
 * States of a queued task. `blocked`: an input is pending. `ready`: the task waits for a slot.
 * `starting`: the task has a slot. `posting`: the task is claimed in D1 and is being posted to a
 * runner; the dispatcher may hold this state in memory only. `running`: a runner has the task, and
 * the task's lease counts.
 */
type QueuedTaskState = "blocked" | "ready" | "starting" | "posting" | "running"

/**
 * Queue entry of a task in its dispatcher. The entry holds the dispatcher's last action. The
 * authoritative state of the task is in D1.
 */
export type QueuedTask = {
  id: string
  jobId: string
  /** Name of the pool whose runners run the task. */
  pool: string
  priority: number
  /**
   * Weight of the task in the progress of its job. `jobWeight` is the sum over all tasks of the
   * job.
   */
  weight: number
  jobWeight: number
  state: QueuedTaskState
  fence: number | null
  slot: string | null
  /** Number of the allocation that gave the slot to this task; a slot refuses lower numbers. */
  allocation: number | null
  leaseUntil: number
  /** Earliest start of a requeued task, in milliseconds since the epoch. */
  notBefore: number
  /** Time since which no runner has the task: the task's creation, or the end of its last run. */
  waitsSince: number
  boot: string | null
}

const WITHOUT_SLOT = {
  fence: null,
  slot: null,
  allocation: null,
  boot: null,
  leaseUntil: 0,
  notBefore: 0,
} as const

/** Returns the queue entry of a new job's task. */
export function toNewQueueEntry({
  blocked,
  createdAt: waitsSince,
  ...task
}: TaskMessage): QueuedTask {
  return { ...task, ...WITHOUT_SLOT, state: blocked ? "blocked" : "ready", waitsSince }
}

/**
 * Returns the queue entry of a task that is open in D1. A claimed task keeps its slot and fencing
 * token and gets a new lease. If no runner has started a task of its job yet, the task is posted
 * again with the same fencing token.
 */
export function toQueueEntryOfOpenTask(
  task: OpenTask,
  { isBlocked, jobWeight, now }: { isBlocked: boolean; jobWeight: number; now: number },
): QueuedTask {
  const { id, jobId, pool, priority, weight, slot, allocation, fence } = task
  const waitsSince = Math.max(task.createdAt, task.requeuedAt ?? 0)
  const planned = { id, jobId, pool, priority, weight, jobWeight }
  if (task.state !== "running") {
    return toNewQueueEntry({ ...planned, blocked: isBlocked, createdAt: waitsSince })
  }
  const state = task.jobState === "waiting" ? "posting" : "running"
  const lease = { ...WITHOUT_SLOT, leaseUntil: now + LEASE_DURATION_MS, waitsSince }
  return { ...planned, state, ...lease, slot, allocation, fence }
}

/**
 * Returns a task that got a slot. If its dispatch dies, the dispatch is repeated after the lease
 * has expired.
 */
export function copyTaskAsStarting(
  task: QueuedTask,
  { id: allocation, slot }: Pick<SlotAllocation, "id" | "slot">,
  now: number,
): QueuedTask {
  return { ...task, state: "starting", slot, allocation, leaseUntil: now + LEASE_DURATION_MS }
}

/** Returns a task that is claimed in D1 and is being posted to its runner. */
export function copyTaskAsPosting(task: QueuedTask, fence: number): QueuedTask {
  return { ...task, state: "posting", fence }
}

/**
 * Returns a task that a runner's process has, because the process accepted the task or sent a
 * heartbeat for the task.
 */
export function copyTaskAsRunning(task: QueuedTask, boot: string, now: number): QueuedTask {
  return { ...task, state: "running", boot, leaseUntil: now + LEASE_DURATION_MS }
}

/** Returns the task in the same state with a new lease. */
export function copyTaskWithNewLease(task: QueuedTask, now: number): QueuedTask {
  return { ...task, leaseUntil: now + LEASE_DURATION_MS }
}

/**
 * Returns a task that waits again for at least `backoffMs`. Keeps the fencing token, so that a
 * later claim of the task is recognized by its higher token.
 */
export function copyTaskWithBackoff(
  task: QueuedTask,
  { backoffMs, waitsSince, now }: { backoffMs: number; waitsSince: number; now: number },
): QueuedTask {
  const { fence } = task
  return { ...task, ...WITHOUT_SLOT, fence, state: "ready", notBefore: now + backoffMs, waitsSince }
}

/**
 * Returns the task in a waiting state: `blocked` if inputs are pending (`isBlocked`), else `ready`.
 */
export function copyTaskAsWaiting(task: QueuedTask, isBlocked: boolean): QueuedTask {
  return { ...task, state: isBlocked ? "blocked" : "ready" }
}

/** Reports whether the task waits for inputs or for a slot. */
export function isTaskWaiting({ state }: QueuedTask): boolean {
  return state === "blocked" || state === "ready"
}

/** Reports whether a runner may already have the task. */
export function mayRunnerHaveTask({ state }: QueuedTask): boolean {
  return state === "posting" || state === "running"
}

/** Reports whether the dispatch of the task is unfinished. */
export function isTaskBeingDispatched({ state }: QueuedTask): boolean {
  return state === "starting" || state === "posting"
}

/** Reports whether a running task's lease has expired without a heartbeat. */
export function isTaskLeaseOver({ state, leaseUntil }: QueuedTask): boolean {
  return state === "running" && leaseUntil <= Date.now()
}

/**
 * Reports whether the lease ends later than a lease that is granted now. This happens if the clock
 * ran ahead when the lease was granted, and was set back since.
 */
export function isTaskLeaseTooLong({ leaseUntil }: QueuedTask, now: number): boolean {
  return leaseUntil > now + LEASE_DURATION_MS
}

/**
 * Reports whether the process that accepted the task is among the lost processes: the stopped
 * process, or every process other than the new one.
 */
export function isRunLost({ boot }: QueuedTask, lostRuns: LostRunnerProcess): boolean {
  if (boot === null) return false
  return "stopped" in lostRuns ? boot === lostRuns.stopped : boot !== lostRuns.boot
}
