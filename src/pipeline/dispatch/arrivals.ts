import type { TaskMessage } from "../../rpc.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import type { openJobNotes } from "./job-notes.ts"
import { newTask } from "./queued-task.ts"
import type { openRecentIds } from "./recent-ids.ts"

type Parts = {
  queue: TaskQueue
  /** Tasks that left the queue. */
  left: ReturnType<typeof openRecentIds>
  notes: ReturnType<typeof openJobNotes>
}

/** Opens the way by which tasks that calls bring come into a queue. */
export function openArrivals({ queue, left, notes }: Parts) {
  return {
    /** Those tasks of some calls that are not over already. */
    find(calls: readonly TaskMessage[][]): TaskMessage[] {
      // A call that was lost may have come all the same, and the message of its task after its end.
      return calls.flat().filter(({ id }) => !left.has(id))
    },

    /** Queues tasks; answers the ids of those that wait for inputs. */
    queue(tasks: readonly TaskMessage[]): string[] {
      queue.add(tasks.map(newTask))
      const queued = queue.findAll(tasks.map(({ id }) => id))
      for (const { id, jobId } of tasks) {
        // A claim would have said so in D1.
        if (queued.get(id)?.fence === null) notes.jobAccepted(jobId)
      }
      return tasks.flatMap((task) => (task.blocked ? task.id : []))
    },
  }
}
