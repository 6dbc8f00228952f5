import { TaskQueue } from "../../../src/scheduler/queue.ts"
import type { QueuedTask } from "../../../src/scheduler/queued-task.ts"

/** Returns all tasks of a queue, ordered by id. */
export function listQueuedTasks(queue: TaskQueue): QueuedTask[] {
  const states = ["blocked", "ready", "starting", "posting", "running"] as const
  return queue.nextIn(states, "", Number.MAX_SAFE_INTEGER)
}

/** Returns all tasks of the queue in a dispatcher's storage, ordered by id. */
export function listStoredTasks({ sql }: DurableObjectStorage): QueuedTask[] {
  return listQueuedTasks(new TaskQueue(sql))
}
