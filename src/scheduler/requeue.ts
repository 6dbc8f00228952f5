import type { Env } from "../bindings/env.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import { killTask, endSilentRun } from "../runner/client.ts"
import { openAccountDatabases } from "../db/database.ts"
import { listOpenTasks } from "../db/jobs/open-tasks.ts"
import type { OpenTask } from "../db/jobs/open-tasks.ts"
import type { JobTransition } from "../db/jobs/apply-transition.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { transitionJob } from "../jobs/settle/settle.ts"
import { computeRequeueTransition } from "../jobs/settle/transitions.ts"
import type { RequeueCause } from "../jobs/settle/transitions.ts"
import type { TaskQueue } from "./queue.ts"
import type { QueuedTask } from "./queued-task.ts"

/**
 * Requeued task: its previous queue entry, the cause, and its row in D1 as `open`, which is an
 * empty array if the task is over.
 */
export type RequeuedTask = { task: QueuedTask; cause: RequeueCause; open: OpenTask[] }

/**
 * Requeues a lost task in D1. Calls `isLost` before each step, because a heartbeat may come
 * meanwhile. Returns null if the run continues. The loss of a run counts as a failed attempt,
 * unless `handsOver` is true: the run is then interrupted to free its slot for another account.
 */
export async function requeueLostTask(
  env: Env,
  queue: TaskQueue,
  run: {
    accountId: string
    taskId: string
    isLost: (task: QueuedTask) => boolean
    handsOver: boolean
  },
): Promise<RequeuedTask | null> {
  const { accountId, taskId, isLost, handsOver } = run
  const task = queue.find(taskId)
  if (!task || task.fence === null || !isLost(task)) return null
  const { jobId, fence, slot, allocation } = task
  const cause = causeOf(task, handsOver)
  function isStillLost(): boolean {
    const own = queue.find(taskId)
    return own?.fence === fence && own.allocation === allocation && isLost(own)
  }
  // Tells the pool before the requeue that the slot's container must be stopped. The pool then does
  // not allocate the slot before the stop, even if this object dies.
  if (cause === "failure" && slot && allocation) {
    await getPoolObject(env, task.pool).slotDistrusted({ slot, allocation })
  }
  function compute(read: JobSnapshot): JobTransition | null {
    return isStillLost()
      ? computeRequeueTransition(read, { taskId, fence, cause, now: Date.now() })
      : null
  }
  const job = { accountId, jobId }
  const { applied, snapshot } = await transitionJob(env, job, compute, { needsValues: false })
  const lostTask = snapshot?.tasks.find(({ id }) => id === taskId)
  const goesOn = lostTask?.state === "running" && lostTask.fence === fence
  if (!applied && (goesOn || !isStillLost())) return null
  return { task, cause, open: await listOpenTasks(openAccountDatabases(env, accountId), [taskId]) }
}

/**
 * Ends the run of a requeued task on its runner. Stops the container of a run that sent no
 * heartbeats.
 */
export async function endLostRun(env: Env, { task, cause }: RequeuedTask): Promise<void> {
  const { id: taskId, fence, slot, allocation } = task
  if (!slot || !allocation || !fence) return
  const end = cause === "failure" ? endSilentRun : killTask
  await end(env, { slot, taskId, fence, allocation })
}

function causeOf({ state }: QueuedTask, handsOver: boolean): RequeueCause {
  if (handsOver) return "hand-over"
  return state === "running" ? "failure" : "no capacity"
}
