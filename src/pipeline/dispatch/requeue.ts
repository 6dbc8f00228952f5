import type { Env } from "../../env.ts"
import { poolObjectOf } from "../../placement.ts"
import { deleteTask, endSilentRun } from "../../runner/client.ts"
import { databaseOf } from "../../storage/database.ts"
import { listOpenTasks } from "../../storage/open-tasks.ts"
import type { OpenTask } from "../../storage/open-tasks.ts"
import type { JobSnapshot, Transition } from "../../storage/transitions.ts"
import { transitionJob } from "../settle/settle.ts"
import { requeueTransition } from "../settle/transitions.ts"
import type { RequeueCause } from "../settle/transitions.ts"
import type { TaskQueue } from "./queue.ts"
import type { QueuedTask } from "./queued-task.ts"

/** A task as it was queued, why it was requeued, and as D1 has it then. */
export type RequeuedTask = { task: QueuedTask; cause: RequeueCause; open: OpenTask[] }

/**
 * Has a lost task wait again in D1, which alone says whose it is. `isLost` judges it as it is queued
 * at each step, since a heartbeat may come meanwhile; null where its run goes on after all. A run
 * that a runner took costs a budget, unless it `handsOver` its slot.
 */
export async function requeueLost(
  env: Env,
  queue: TaskQueue,
  lost: {
    accountId: string
    taskId: string
    isLost: (task: QueuedTask) => boolean
    handsOver: boolean
  },
): Promise<RequeuedTask | null> {
  const { accountId, taskId, isLost, handsOver } = lost
  const task = queue.find(taskId)
  if (!task || task.fence === null || !isLost(task)) return null
  const { jobId, fence, slot, allocation } = task
  const cause = causeOf(task, handsOver)
  function isStillLost(): boolean {
    const own = queue.find(taskId)
    return own?.fence === fence && own.allocation === allocation && isLost(own)
  }
  // Known to the pool before anybody can have the slot again, whatever dies meanwhile.
  if (cause === "failure" && slot && allocation) {
    await poolObjectOf(env, task.pool).slotDistrusted({ slot, allocation })
  }
  function compute(read: JobSnapshot): Transition | null {
    return isStillLost() ? requeueTransition(read, { taskId, fence, cause, now: Date.now() }) : null
  }
  const job = { accountId, jobId }
  const { applied, snapshot } = await transitionJob(env, job, compute, { needsValues: false })
  const known = snapshot?.tasks.find(({ id }) => id === taskId)
  const goesOn = known?.state === "running" && known.fence === fence
  if (!applied && (goesOn || !isStillLost())) return null
  return { task, cause, open: await listOpenTasks(databaseOf(env, accountId), [taskId]) }
}

/** Ends what is left of the run of a task that was requeued. */
export async function endLostRun(env: Env, { task, cause }: RequeuedTask): Promise<void> {
  const { id: taskId, fence, slot, allocation } = task
  if (!slot || !allocation || !fence) return
  const end = cause === "failure" ? endSilentRun : deleteTask
  await end(env, { slot, taskId, fence, allocation })
}

function causeOf({ state }: QueuedTask, handsOver: boolean): RequeueCause {
  if (handsOver) return "hand-over"
  return state === "running" ? "failure" : "no capacity"
}
