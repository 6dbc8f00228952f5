import { newId } from "../../ids.ts"
import { remember } from "../../recent.ts"
import type { JobChange, Progress, SeenJob } from "../../rpc.ts"
import type { QueuedTask } from "./queued-task.ts"

/** Jobs whose versions are remembered; a forgotten one costs its watchers a read of D1. */
const JOBS_MAX = 10_000

/** A job is done with its last task only. */
const PERCENT_BEFORE_END = 99

/** A task of a job that is not over, and its share of the work of the job. */
type WeighedTask = Pick<QueuedTask, "id" | "weight" | "jobWeight">

/** A task by the job that it is of. */
type TaskOfJob = Pick<QueuedTask, "id" | "jobId">

/** How far the tasks of a job are, in percent, and the most that was shown of the job. */
type JobProgress = { percents: Map<string, number>; shown: Progress }

/**
 * Progress of jobs, and who waits for a change of it; in memory only, and lost with it. The progress of
 * a job is the sum over its tasks by weight, and never falls.
 */
export class ProgressTracker {
  readonly #tasksOf: (jobId: string) => readonly WeighedTask[]
  // After a restart every version is new, so that no watcher waits for a change that it missed.
  readonly #bootId = newId()
  /** Number of changes of a job, and the last of them that may have been an end. */
  readonly #changes = remember<{ count: number; ending: number | null }>(JOBS_MAX)
  readonly #jobs = new Map<string, JobProgress>()
  readonly #sleepers = new Map<string, Set<() => void>>()

  /** `tasksOf` answers the tasks of a job that are not over; all others of its weight are done. */
  constructor(tasksOf: (jobId: string) => readonly WeighedTask[]) {
    this.#tasksOf = tasksOf
  }

  /** How far a job is; null where nothing of it is known. */
  of(jobId: string): Progress | null {
    const { percents, shown } = this.#jobOf(jobId)
    const percent = Math.max(shown.percent, percentOf(this.#tasksOf(jobId), percents))
    return percent === 0 && !shown.detail ? null : { ...shown, percent }
  }

  /** How far jobs are, by their ids; without those of which nothing runs. */
  ofJobs(jobIds: readonly string[]): Map<string, Progress> {
    const all = jobIds.map((jobId) => [jobId, this.of(jobId)] as const)
    return new Map(all.flatMap(([jobId, progress]) => (progress ? [[jobId, progress]] : [])))
  }

  /** A runner reports how far a task is. */
  reported({ id, jobId }: TaskOfJob, reported: Progress): void {
    const { percents, shown } = this.#jobOf(jobId)
    percents.set(id, reported.percent)
    const open = this.#tasksOf(jobId)
    const percent = Math.max(shown.percent, percentOf(open, percents))
    // How long the other tasks of a job take is not known, nor what they write.
    const next = open.length > 1 ? { percent } : { ...reported, percent }
    this.#jobs.set(jobId, { percents, shown: next })
    this.#wake(jobId)
  }

  /** A task is over, or waits again: its percent no longer holds, though what was shown does. */
  runEnded({ id, jobId }: TaskOfJob): void {
    const { percents, shown } = this.#jobOf(jobId)
    const percent = this.of(jobId)?.percent ?? shown.percent
    percents.delete(id)
    if (this.#tasksOf(jobId).length === 0) this.#jobs.delete(jobId)
    else this.#jobs.set(jobId, { percents, shown: { percent } })
    this.mayBeOver(jobId)
  }

  /** D1 may have something new of a job. */
  jobChanged(jobId: string): void {
    this.#countChange(jobId, false)
  }

  /** D1 may have the end of a job, or of a task of it. */
  mayBeOver(jobId: string): void {
    this.#countChange(jobId, true)
  }

  /** Resolves once a job is no longer as it was seen, or the time is over. */
  async next(jobId: string, seen: SeenJob | null, timeoutMs: number): Promise<JobChange> {
    const until = Date.now() + timeoutMs
    for (;;) {
      const change = this.#changeOf(jobId)
      const leftMs = until - Date.now()
      // More than all of the time is left where the clock was set back.
      const isOver = leftMs <= 0 || leftMs > timeoutMs
      if (seen === null || isNew(change, seen) || isOver) return change
      await this.#sleep(jobId, leftMs)
    }
  }

  #jobOf(jobId: string): JobProgress {
    return this.#jobs.get(jobId) ?? { percents: new Map(), shown: { percent: 0 } }
  }

  #changeOf(jobId: string): JobChange {
    const { count = 0, ending = null } = this.#changes.get(jobId) ?? {}
    return {
      version: `${this.#bootId}.${count}`,
      endings: ending === null ? "" : `${this.#bootId}.${ending}`,
      progress: this.of(jobId),
    }
  }

  #countChange(jobId: string, isEnding: boolean): void {
    const { count: before = 0, ending = null } = this.#changes.get(jobId) ?? {}
    const count = before + 1
    this.#changes.set(jobId, { count, ending: isEnding ? count : ending }, Infinity)
    this.#wake(jobId)
  }

  #wake(jobId: string): void {
    for (const wakeOne of this.#sleepers.get(jobId) ?? []) wakeOne()
  }

  async #sleep(jobId: string, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofJob = this.#sleepers.get(jobId) ?? new Set()
    this.#sleepers.set(jobId, ofJob.add(resolve))
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    ofJob.delete(resolve)
    if (ofJob.size === 0 && this.#sleepers.get(jobId) === ofJob) this.#sleepers.delete(jobId)
  }
}

/** Whether two looks at a job show it as far; how long the rest takes does not count. */
export function isSameProgress(one: Progress | null, other: Progress | null): boolean {
  return marksOf(one) === marksOf(other)
}

function marksOf(progress: Progress | null): string {
  const { frame, time_seconds, speed, size_bytes } = progress?.detail ?? {}
  return [progress?.percent ?? 0, frame, time_seconds, speed, size_bytes].join(" ")
}

function isNew(change: JobChange, seen: SeenJob): boolean {
  if (seen.endings !== undefined) return change.endings !== seen.endings
  if (change.version !== seen.version) return true
  return seen.progress !== undefined && !isSameProgress(change.progress, seen.progress)
}

/** Percent of a job by its tasks that are not over; all others of its weight are done. */
function percentOf(open: readonly WeighedTask[], percents: ReadonlyMap<string, number>): number {
  const [first] = open
  if (!first) return 0
  const left = open.map(({ id, weight }) => weight * (100 - (percents.get(id) ?? 0)))
  const percent = 100 - left.reduce((sum, each) => sum + each, 0) / first.jobWeight
  return Math.min(PERCENT_BEFORE_END, Math.max(0, percent))
}
