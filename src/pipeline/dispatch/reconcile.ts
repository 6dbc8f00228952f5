import type { Failure } from "../../contract/failure.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { logError } from "../../log.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import type { LostInput, OpenTask } from "../../storage/open-tasks.ts"
import { backoffMs } from "../settle/attempts.ts"
import { inputFailed, nameInputs } from "../settle/input-failures.ts"
import { adoptedTask, blockedTask, isPosted, isWaiting, requeuedTask } from "./queued-task.ts"

/** The pool of a task that this version cannot tell the pool of. */
export const NO_POOL = ""

/** A task whose job can never start, since an input of it is lost. */
export type UnstartableTask = Pick<OpenTask, "id" | "jobId">

/**
 * Reconciles queued tasks with what D1 says of them: a task that D1 has as waiting is requeued, one
 * whose inputs have come is ready. Answers the tasks whose jobs are to fail.
 */
export function reconcileTasks(queue: TaskQueue, open: OpenTask[], now: number): UnstartableTask[] {
  const all = queue.findAll(open.map(({ id }) => id))
  return open.flatMap((task) => {
    const queued = all.get(task.id)
    if (!queued || task.state !== "waiting") return []
    if (isPosted(queued) && queued.fence === task.fence) {
      const waitsSince = task.requeuedAt ?? queued.waitsSince
      queue.save(requeuedTask(queued, { backoffMs: backoffMs(task), waitsSince, now }))
      return []
    }
    if (!isWaiting(queued)) return []
    if (task.inputs === "failed" || task.inputs === "gone") return [task]
    // Which pool has the disk for an input may be known only once that was brought in.
    const pool = queued.pool === NO_POOL ? NO_POOL : (task.pool ?? queued.pool)
    const isWaitingOn = task.inputs === "pending" || pool === NO_POOL
    const next = blockedTask({ ...queued, pool }, isWaitingOn)
    if (next.state !== queued.state || pool !== queued.pool) queue.save(next)
    return []
  })
}

/** Queues D1's open tasks that are not queued yet, and those that were claimed since they were. */
export function adoptTasks(
  queue: TaskQueue,
  open: OpenTask[],
  { weights, now }: { weights: ReadonlyMap<string, number>; now: number },
): void {
  const all = queue.findAll(open.map(({ id }) => id))
  const lacking = open.flatMap((task) => {
    const pool = findPool(task)
    const isBlocked = task.inputs !== "ready" || pool === NO_POOL
    const jobWeight = weights.get(task.jobId) ?? task.weight
    const adopted = adoptedTask(task, { pool, isBlocked, jobWeight, now })
    if (adopted.allocation !== null) queue.markUsed(adopted.pool, adopted.allocation)
    const queued = all.get(task.id)
    if (!queued) return [adopted]
    if (queued.pool === NO_POOL && pool !== NO_POOL) {
      queue.remove(task.id)
      return [adopted]
    }
    // Its claim was made before this queue lost what it knew.
    const isUnknown = isWaiting(queued) && task.fence > (queued.fence ?? 0)
    if (isUnknown && task.state === "running") queue.save(adopted)
    return []
  })
  queue.add(lacking)
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

/** Why a task can never start, by its inputs that are lost; null where none is. */
export function inputFailure(lost: readonly LostInput[]): Failure | null {
  const gone = lost.filter(({ failure }) => failure === null)
  if (gone.length > 0) {
    const names = nameInputs(gone.map(({ key }) => key))
    const were = gone.length > 1 ? "were" : "was"
    const message = `${names} ${were} deleted before the job could read ${gone.length > 1 ? "them" : "it"}.`
    return { code: "input_deleted", message, lines: [] }
  }
  const [failed] = lost
  return failed?.failure ? inputFailed([failed.key], failed.failure) : null
}
