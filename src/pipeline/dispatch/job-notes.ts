import type { AccountDatabase } from "../../storage/database.ts"
import { noteJobs } from "../../storage/jobs.ts"
import type { TakenTask } from "../../storage/jobs.ts"

const GATHER_MS = 50

/**
 * What D1 does not know yet of a dispatcher's jobs: that they are queued, and which tasks runners
 * took. It is noted together, a moment later, beside the way of the jobs.
 */
export function openJobNotes() {
  const accepted = new Set<string>()
  const taken = new Map<string, TakenTask>()
  let isNoting = false
  return {
    jobAccepted: (jobId: string) => void accepted.add(jobId),
    taskTaken(task: TakenTask): void {
      if (taken.get(task.taskId)?.fence !== task.fence) taken.set(task.taskId, task)
    },
    isEmpty: () => accepted.size + taken.size === 0,
    /** Notes all in D1; answers the jobs of the tasks that were taken. What fails is noted later. */
    async note(database: AccountDatabase): Promise<string[]> {
      if (isNoting) return []
      isNoting = true
      await scheduler.wait(GATHER_MS)
      isNoting = false
      const noted = { accepted: [...accepted], taken: [...taken.values()], now: Date.now() }
      accepted.clear()
      taken.clear()
      try {
        await noteJobs(database, noted)
      } catch (error) {
        for (const jobId of noted.accepted) accepted.add(jobId)
        for (const task of noted.taken) if (!taken.has(task.taskId)) taken.set(task.taskId, task)
        throw error
      }
      return noted.taken.map(({ jobId }) => jobId)
    },
  }
}
