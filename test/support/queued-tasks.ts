import { TaskQueue } from "../../src/pipeline/dispatch/queue.ts"
import type { QueuedTask } from "../../src/pipeline/dispatch/queued-task.ts"

/** All tasks of a queue, in the order of their ids. */
export function allQueued(queue: TaskQueue): QueuedTask[] {
  const all = [...queue.waitingAfter("", Number.MAX_SAFE_INTEGER), ...queue.underWay()]
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** The same of the queue that a dispatcher's storage holds. */
export function allStored({ sql }: DurableObjectStorage): QueuedTask[] {
  return allQueued(new TaskQueue(sql))
}
