import type { Progress } from "../../rpc.ts"
import type { QueuedTask } from "../../storage/queued-tasks.ts"

/** A job is done with its last task only. */
const PERCENT_BEFORE_END = 99

/** A task of a job that is not over, and its share of the work of the job. */
export type WeighedTask = Pick<QueuedTask, "id" | "weight" | "jobWeight">

/** A task by the job that it is of. */
export type TaskOfJob = Pick<QueuedTask, "id" | "jobId">

/** How far the tasks of a job are, and the most that was shown of the job. */
type Known = { percents: Map<string, number>; shown: Progress }

/**
 * Progress of jobs: the sum over their tasks by weight, which never falls. What is done of a job is
 * known by `tasksOf`, its tasks that are not over; how far each of these is, is in memory only and
 * lost with it.
 */
export function openJobProgress(tasksOf: (jobId: string) => readonly WeighedTask[]) {
  const known = new Map<string, Known>()
  function knownOf(jobId: string): Known {
    return known.get(jobId) ?? { percents: new Map(), shown: { percent: 0 } }
  }
  function progressOf(jobId: string): Progress | null {
    const { percents, shown } = knownOf(jobId)
    const percent = Math.max(shown.percent, percentOf(tasksOf(jobId), percents))
    return percent === 0 && !shown.detail ? null : { ...shown, percent }
  }
  return {
    of: progressOf,
    /** How far jobs are, by their ids; without those of which nothing runs. */
    ofJobs: (jobIds: readonly string[]): Map<string, Progress> => {
      const all = jobIds.map((jobId) => ({ jobId, progress: progressOf(jobId) }))
      return new Map(all.flatMap(({ jobId, progress }) => (progress ? [[jobId, progress]] : [])))
    },
    reported({ id, jobId }: TaskOfJob, reported: Progress): void {
      const { percents, shown } = knownOf(jobId)
      percents.set(id, reported.percent)
      const open = tasksOf(jobId)
      const percent = Math.max(shown.percent, percentOf(open, percents))
      // How long the other tasks of a job take is not known, nor what they write.
      const next = open.length > 1 ? { percent } : { ...reported, percent }
      known.set(jobId, { percents, shown: next })
    },
    /** A run of a task is over: how far it was no longer holds, though what was shown does. */
    runEnded({ id, jobId }: TaskOfJob): void {
      const { percents, shown } = knownOf(jobId)
      const percent = progressOf(jobId)?.percent ?? shown.percent
      percents.delete(id)
      if (tasksOf(jobId).length === 0) known.delete(jobId)
      else known.set(jobId, { percents, shown: { percent } })
    },
  }
}

/** How far a job is by its tasks that are not over; all others of its weight are done. */
function percentOf(open: readonly WeighedTask[], percents: ReadonlyMap<string, number>): number {
  const [first] = open
  if (!first) return 0
  const left = open.map(({ id, weight }) => weight * (100 - (percents.get(id) ?? 0)))
  const percent = 100 - left.reduce((sum, each) => sum + each, 0) / first.jobWeight
  return Math.min(PERCENT_BEFORE_END, Math.max(0, percent))
}
