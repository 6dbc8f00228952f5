import type { Failure } from "../../contract/failure.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { logError } from "../../log.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import type { InputReadiness, OpenTask } from "../../storage/tasks.ts"
import { backoffMs } from "../settle/attempts.ts"
import { inputFailed, nameInputs } from "../settle/input-failures.ts"
import { adoptedTask, blockedTask, isPosted, isWaiting, requeuedTask } from "./queued-task.ts"

const NO_POOL = ""
const READY_MAX = 100

/** A job that can never start, and why. */
export type UnstartableJob = { jobId: string; failure: Failure }

/**
 * Reconciles queued tasks with what D1 says of them: a task that D1 has as waiting is requeued, one
 * whose inputs have come is ready. Answers the jobs that are to fail.
 */
export function reconcileTasks(queue: TaskQueue, open: OpenTask[], now: number): UnstartableJob[] {
  return open.flatMap((task) => {
    const queued = queue.find(task.id)
    if (!queued || task.state !== "waiting") return []
    if (isPosted(queued) && queued.fence === task.fence) {
      const waitsSince = task.requeuedAt ?? queued.waitsSince
      queue.save(requeuedTask(queued, { backoffMs: backoffMs(task), waitsSince, now }))
      return []
    }
    if (!isWaiting(queued)) return []
    const failure = inputFailure(task.inputs)
    if (failure) return [{ jobId: task.jobId, failure }]
    // Which pool has the disk for an input may be known only once that was brought in.
    const pool = queued.pool === NO_POOL ? NO_POOL : (task.pool ?? queued.pool)
    const isWaitingOn = isBlocked(task.inputs) || pool === NO_POOL
    const next = blockedTask({ ...queued, pool }, isWaitingOn)
    if (next.state !== queued.state || pool !== queued.pool) queue.save(next)
    return []
  })
}

/** Queues D1's open tasks that are not queued yet, and those that were claimed since they were. */
export function adoptTasks(queue: TaskQueue, open: OpenTask[], now: number): void {
  for (const task of open) {
    const pool = findPool(task)
    const blocked = isBlocked(task.inputs) || pool === NO_POOL
    const adopted = adoptedTask(task, { pool, isBlocked: blocked, now })
    if (pool !== NO_POOL && queue.find(task.id)?.pool === NO_POOL) queue.remove(task.id)
    queue.add(adopted)
    const queued = queue.find(task.id)
    // Its claim was made before this queue lost what it knew.
    const isUnknown = queued && isWaiting(queued) && task.fence > (queued.fence ?? 0)
    if (isUnknown && task.state === "running") queue.save(adopted)
    if (adopted.allocation !== null) queue.markUsed(adopted.pool, adopted.allocation)
  }
}

/** Queued tasks that D1 does not have among its open ones. */
export function closedTasks(queue: TaskQueue, open: OpenTask[]): string[] {
  const openIds = new Set(open.map((task) => task.id))
  return queue.all().flatMap(({ id }) => (openIds.has(id) ? [] : [id]))
}

/** The pool of a task; none, so that it stays blocked, where this version cannot tell. */
function findPool(task: OpenTask): string {
  try {
    return poolOfTask(task)
  } catch (error) {
    logError("dispatcher.task_without_pool", { task_id: task.id, error: String(error) })
    return NO_POOL
  }
}

/**
 * Queued tasks that may be over in D1, since the call that says so can be lost: all but those that
 * wait for a slot behind many others.
 */
export function tasksToCheck(queue: TaskQueue, now: number): string[] {
  const tasks = [...queue.underWay(), ...queue.blocked(), ...queue.ready(READY_MAX, now)]
  return tasks.map(({ id }) => id)
}

export function isBlocked(inputs: readonly InputReadiness[]): boolean {
  return inputs.some(({ readiness }) => readiness === "pending")
}

/** Why a task can never start, judged by its inputs; null where it can, now or later. */
export function inputFailure(inputs: readonly InputReadiness[]): Failure | null {
  const gone = inputs.filter(({ readiness }) => readiness === "gone")
  if (gone.length > 0) {
    const names = nameInputs(gone.map(({ key }) => key))
    const were = gone.length > 1 ? "were" : "was"
    const message = `${names} ${were} deleted before the job could read ${gone.length > 1 ? "them" : "it"}.`
    return { code: "input_deleted", message, lines: [] }
  }
  const failed = inputs.find(({ failure }) => failure !== undefined)
  return failed?.failure ? inputFailed([failed.key], failed.failure) : null
}
