import { LEASE_MS } from "../../contract/protocol.ts"
import type { LostRuns, SlotAllocation, TaskMessage } from "../../rpc.ts"
import type { OpenTask } from "../../storage/open-tasks.ts"

// The states of a queued task and every change of them; nothing else writes a state.
//
//   blocked ⇄ ready ─▶ starting ─▶ posting ─▶ running
//               ▲─────────┴───────────┴──────────┘ requeued

/**
 * The states of a queued task. `blocked`: an input is still to come. `ready`: the task waits for a slot.
 * `starting`: it has a slot. `posting`: it is claimed in D1 and is being handed to a runner, which the
 * dispatcher may know in its memory alone. `running`: a runner took it, and its lease counts.
 */
type QueuedTaskState = "blocked" | "ready" | "starting" | "posting" | "running"

/** A task as its dispatcher queues it; D1 says what is true, this says what was last done. */
export type QueuedTask = {
  id: string
  jobId: string
  /** The pool of runners that does it; NO_POOL where this version cannot tell. */
  pool: string
  priority: number
  /** Its share of the work of its job, and that of all tasks of the job together. */
  weight: number
  jobWeight: number
  state: QueuedTaskState
  fence: number | null
  slot: string | null
  /** Number of the slot's allocation. */
  allocation: number | null
  leaseUntil: number
  /** A requeued task is not started again before this moment. */
  notBefore: number
  /** Since when no runner has it: its creation, or the end of its last run. */
  waitsSince: number
  boot: string | null
}

/** The pool of a task that this version cannot tell the pool of: the task stays blocked. */
export const NO_POOL = ""

const WITHOUT_SLOT = {
  fence: null,
  slot: null,
  allocation: null,
  boot: null,
  leaseUntil: 0,
  notBefore: 0,
} as const

/** A task of a job that was just accepted. */
export function newTask({ blocked, createdAt: waitsSince, ...task }: TaskMessage): QueuedTask {
  return { ...task, ...WITHOUT_SLOT, state: blocked ? "blocked" : "ready", waitsSince }
}

/**
 * A task that D1 has as open; one that is claimed keeps what its claim wrote, under a fresh lease.
 * Where no runner took anything of its job, it is dispatched again at the same fence.
 */
export function adoptedTask(
  task: OpenTask,
  {
    pool,
    isBlocked,
    jobWeight,
    now,
  }: { pool: string; isBlocked: boolean; jobWeight: number; now: number },
): QueuedTask {
  const { id, jobId, priority, weight, slot, allocation, fence } = task
  const waitsSince = Math.max(task.createdAt, task.requeuedAt ?? 0)
  const planned = { id, jobId, pool, priority, weight, jobWeight }
  if (task.state !== "running") {
    return newTask({ ...planned, blocked: isBlocked, createdAt: waitsSince })
  }
  const state = task.jobState === "waiting" ? "posting" : "running"
  const lease = { ...WITHOUT_SLOT, leaseUntil: now + LEASE_MS, waitsSince }
  return { ...planned, state, ...lease, slot, allocation, fence }
}

/** The task got a slot; where its dispatch dies it is repeated once the lease is over. */
export function startingTask(
  task: QueuedTask,
  { id: allocation, slot }: Pick<SlotAllocation, "id" | "slot">,
  now: number,
): QueuedTask {
  return { ...task, state: "starting", slot, allocation, leaseUntil: now + LEASE_MS }
}

/** The task is claimed in D1 and is handed to its runner. */
export function postingTask(task: QueuedTask, fence: number): QueuedTask {
  return { ...task, state: "posting", fence }
}

/** A runner's process has the task: it was accepted, or a heartbeat came. */
export function runningTask(task: QueuedTask, boot: string, now: number): QueuedTask {
  return { ...task, state: "running", boot, leaseUntil: now + LEASE_MS }
}

/** The dispatch goes on for another lease, in the state that it had. */
export function renewedTask(task: QueuedTask, now: number): QueuedTask {
  return { ...task, leaseUntil: now + LEASE_MS }
}

/** The task waits again, for at least `backoffMs`; its fence tells a later claim from this one. */
export function requeuedTask(
  task: QueuedTask,
  { backoffMs, waitsSince, now }: { backoffMs: number; waitsSince: number; now: number },
): QueuedTask {
  const { fence } = task
  return { ...task, ...WITHOUT_SLOT, fence, state: "ready", notBefore: now + backoffMs, waitsSince }
}

/** The task waits for its inputs, or no longer does. */
export function blockedTask(task: QueuedTask, isBlocked: boolean): QueuedTask {
  return { ...task, state: isBlocked ? "blocked" : "ready" }
}

/** Whether the task waits, for inputs or for a slot. */
export function isWaiting({ state }: QueuedTask): boolean {
  return state === "blocked" || state === "ready"
}

/** Whether a runner may have the task already. */
export function isPosted({ state }: QueuedTask): boolean {
  return state === "posting" || state === "running"
}

/** Whether the dispatch of the task is not finished. */
export function isDispatching({ state }: QueuedTask): boolean {
  return state === "starting" || state === "posting"
}

/** Whether a runner that has the task was silent for too long. */
export function isLeaseOver({ state, leaseUntil }: QueuedTask): boolean {
  return state === "running" && leaseUntil <= Date.now()
}

/** Whether the lease ends later than one can that is given now: its clock was ahead. */
export function isLeaseTooLong({ leaseUntil }: QueuedTask, now: number): boolean {
  return leaseUntil > now + LEASE_MS
}

/** Whether a run that a process accepted was lost with it. */
export function isRunLost({ boot }: QueuedTask, lost: LostRuns): boolean {
  if (boot === null) return false
  return "stopped" in lost ? boot === lost.stopped : boot !== lost.boot
}
