import type { StartedJob } from "./jobs.ts"
import type { JobSnapshot } from "./transitions.ts"

const CLAIMS_MAX = 256
/** A job of more rows is read again at the end of each of its tasks. */
const ROWS_MAX = 16

/**
 * What claims found of jobs, by their tasks, in memory alone. A job that changed since is at another
 * version, so that a transition which is computed from what is here is not written.
 */
export function openClaimedJobs() {
  const claimed = new Map<string, JobSnapshot>()
  return {
    keepClaim(taskId: string, snapshot: JobSnapshot): void {
      const { tasks, files, inputs } = snapshot
      if (tasks.length + files.length + inputs.length > ROWS_MAX) return
      claimed.set(taskId, snapshot)
      for (const oldest of claimed.keys()) {
        if (claimed.size <= CLAIMS_MAX) break
        claimed.delete(oldest)
      }
    },
    /** What the claim of a task found, once. */
    takeClaim(taskId: string): JobSnapshot | null {
      const snapshot = claimed.get(taskId) ?? null
      claimed.delete(taskId)
      return snapshot
    },
    /** Jobs are as D1 says now that they have begun. */
    claimsStarted(started: readonly StartedJob[]): void {
      const byId = new Map(started.map((job) => [job.id, job]))
      for (const [taskId, { job, files, ...rest }] of claimed) {
        const now = byId.get(job.id)
        if (now === undefined) continue
        // Another task may have changed the job before.
        const isNext = now.version === job.version + 1
        const begun = { ...rest, job: { ...job, ...now }, files: files.map(startedFile) }
        if (isNext) claimed.set(taskId, begun)
        else claimed.delete(taskId)
      }
    },
  }
}

function startedFile(file: JobSnapshot["files"][number]): JobSnapshot["files"][number] {
  return file.state === "waiting" ? { ...file, state: "running" } : file
}
