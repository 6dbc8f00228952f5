import type { TaskMessage } from "../../rpc.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import { gatherCalls } from "./gather.ts"
import type { openJobNotes } from "./job-notes.ts"
import type { openNextAlarm } from "./next-alarm.ts"
import { newTask } from "./queued-task.ts"
import type { openRecentIds } from "./recent-ids.ts"

/** Tasks that a call brings to the queue of their account. */
export type Arrival = { accountId: string; tasks: readonly TaskMessage[] }

type Parts = {
  /** Tasks that left the queue. */
  left: ReturnType<typeof openRecentIds>
  notes: ReturnType<typeof openJobNotes>
  nextAlarm: ReturnType<typeof openNextAlarm>
  /** Called with those that wait for inputs once all of some calls are queued. */
  onQueued: (accountId: string, blocked: string[]) => void
}

/** Queues the tasks that calls bring, those of calls that come at once together. */
export function openArrivals(queue: TaskQueue, { left, notes, nextAlarm, onQueued }: Parts) {
  return gatherCalls<Arrival>(async (arrivals) => {
    // A call that was lost may have come all the same, and the message of its task after its end.
    const open = arrivals.flatMap(({ tasks }) => tasks).filter(({ id }) => !left.has(id))
    const [first] = arrivals
    if (!first || open.length === 0) return
    const { accountId } = first
    await nextAlarm.armSoon(accountId)
    for (const task of open) {
      queue.add(newTask(task))
      // A claim would have said so in D1.
      if (queue.find(task.id)?.fence === null) notes.jobAccepted(task.jobId)
    }
    notes.noteLater(accountId)
    onQueued(
      accountId,
      open.flatMap((task) => (task.blocked ? task.id : [])),
    )
  })
}
