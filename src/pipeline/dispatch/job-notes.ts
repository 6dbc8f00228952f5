import type { AccountDatabase } from "../../storage/database.ts"
import { noteJobs } from "../../storage/jobs.ts"
import type { StartedJob, TakenTask } from "../../storage/jobs.ts"
import type { QueuedTask } from "../../storage/queued-tasks.ts"

/** Short tasks are over by then, and their jobs need no note. */
const GATHER_MS = 200

type Told = {
  /** Jobs whose start D1 now has, and those of them that have begun by it. */
  onStarted: (jobIds: string[], started: StartedJob[]) => void
  inBackground: (work: Promise<void>) => void
}

/**
 * What D1 does not know yet of a dispatcher's jobs: that they are queued, and which tasks runners
 * took. It is noted together, a moment later, beside the way of the jobs; what fails is noted later.
 */
export function openJobNotes(
  databaseOf: (accountId: string) => AccountDatabase,
  { onStarted, inBackground }: Told,
) {
  const accepted = new Set<string>()
  const taken = new Map<string, TakenTask>()
  let isNoting = false
  async function note(accountId: string): Promise<void> {
    await scheduler.wait(GATHER_MS)
    isNoting = false
    const noted = { accepted: [...accepted], taken: [...taken.values()], now: Date.now() }
    accepted.clear()
    taken.clear()
    let started: StartedJob[]
    try {
      started = await noteJobs(databaseOf(accountId), noted)
    } catch (error) {
      for (const jobId of noted.accepted) accepted.add(jobId)
      for (const task of noted.taken) if (!taken.has(task.taskId)) taken.set(task.taskId, task)
      throw error
    }
    onStarted(
      noted.taken.map(({ jobId }) => jobId),
      started,
    )
  }
  function noteLater(accountId: string): void {
    if (isNoting || accepted.size + taken.size === 0) return
    isNoting = true
    inBackground(note(accountId))
  }
  return {
    noteLater,
    jobAccepted: (jobId: string) => void accepted.add(jobId),
    /** A runner took a task, which starts its job; the claim before has said that the job is queued. */
    taskTaken(accountId: string, { id: taskId, jobId, fence }: QueuedTask): void {
      if (fence === null) return
      accepted.delete(jobId)
      if (taken.get(taskId)?.fence !== fence) {
        taken.set(taskId, { jobId, taskId, fence, at: Date.now() })
      }
      noteLater(accountId)
    },
    /** D1 has the end of a task, which says more. */
    taskLeft: (taskId: string) => void taken.delete(taskId),
  }
}
