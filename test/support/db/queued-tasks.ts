import { TaskQueue } from "../../../src/scheduler/queue.ts"
import type { QueuedTask } from "../../../src/scheduler/queued-task.ts"

/** All tasks of a queue, in the order of their ids. */
export function allQueued(queue: TaskQueue): QueuedTask[] {
  const states = ["blocked", "ready", "starting", "posting", "running"] as const
  return queue.nextIn(states, "", Number.MAX_SAFE_INTEGER)
}

/** The same of the queue that a dispatcher's storage holds. */
export function allStored({ sql }: DurableObjectStorage): QueuedTask[] {
  return allQueued(new TaskQueue(sql))
}
