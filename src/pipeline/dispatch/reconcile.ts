import type { Failure } from "../../contract/failure.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import type { AccountDatabase } from "../../storage/database.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import { listOpenTasks } from "../../storage/tasks.ts"
import type { OpenTask, Readiness } from "../../storage/tasks.ts"
import { backoffMs, expired } from "../settle/attempts.ts"
import { adoptedTask, blockedTask, isPosted, isWaiting, requeuedTask } from "./queued-task.ts"

/** A job that can never start, and why. */
export type UnstartableJob = { jobId: string; failure: Failure }

/**
 * Reconciles queued tasks with what D1 says of them: a task that D1 has as waiting is requeued, one
 * whose inputs have come is ready. Answers the jobs that are to fail.
 */
export function reconcileTasks(
  queue: TaskQueue,
  open: OpenTask[],
  { now, waitMsMax }: { now: number; waitMsMax: number },
): UnstartableJob[] {
  return open.flatMap((task) => {
    const queued = queue.find(task.id)
    if (!queued || task.state !== "waiting") return []
    if (isPosted(queued) && queued.fence === task.fence) {
      queue.save(requeuedTask(queued, backoffMs(task), now))
      return []
    }
    if (!isWaiting(queued)) return []
    const isExpired = task.createdAt + waitMsMax <= now
    const failure = inputFailure(task.inputs) ?? (isExpired ? expired() : null)
    if (failure) return [{ jobId: task.jobId, failure }]
    const next = blockedTask(queued, isBlocked(task.inputs))
    if (next.state !== queued.state) queue.save(next)
    return []
  })
}

/** Queues D1's open tasks that are not queued yet; true where one of them could start now. */
export function adoptTasks(queue: TaskQueue, open: OpenTask[], now: number): boolean {
  let isAnyReady = false
  for (const task of open) {
    const pool = poolOfTask(task)
    const adopted = adoptedTask(task, { pool, isBlocked: isBlocked(task.inputs), now })
    if (queue.add(adopted) && adopted.state === "ready") isAnyReady = true
    if (adopted.allocation !== null) queue.markUsed(pool, adopted.allocation)
  }
  return isAnyReady
}

/** Tasks under way that are over in D1: the call that says so can be lost while their run goes on. */
export async function findClosed(database: AccountDatabase, queue: TaskQueue): Promise<string[]> {
  const ids = queue.underWay().map((task) => task.id)
  if (ids.length === 0) return []
  const open = new Set((await listOpenTasks(database, ids)).map((task) => task.id))
  return ids.filter((id) => !open.has(id))
}

export function isBlocked(inputs: readonly Readiness[]): boolean {
  return inputs.includes("pending")
}

/** Why a task can never start, judged by its inputs; null where it can, now or later. */
export function inputFailure(inputs: readonly Readiness[]): Failure | null {
  if (inputs.includes("gone")) {
    return {
      code: "input_deleted",
      message: "An input file was deleted before the job could read it.",
      lines: [],
    }
  }
  if (inputs.includes("failed")) {
    return { code: "input_failed", message: "An input could not be brought in.", lines: [] }
  }
  return null
}
