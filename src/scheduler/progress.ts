import { newId } from "../platform/ids.ts"
import { makeBoundedCache } from "../platform/bounded-cache.ts"
import type {
  JobVersionsSeenByCaller,
  JobVersionSeenByCaller,
  WatchedJobStates,
  WatchedJobState,
} from "../bindings/rpc.ts"
import type { Progress } from "../domain/progress.ts"
import type { QueuedTask } from "./queued-task.ts"

/**
 * Maximum number of jobs whose versions are cached. A watcher of a job with a dropped version
 * causes a read of D1.
 */
const JOBS_MAX = 10_000

/**
 * Highest progress of an open job, in percent. Progress reaches 100 percent only with the end of
 * the last task.
 */
const PERCENT_BEFORE_END = 99

/** Open task with its weight in the progress of its job. */
type WeighedTask = Pick<QueuedTask, "id" | "weight" | "jobWeight">

/** Id of a task, and the id of its job. */
type TaskOfJob = Pick<QueuedTask, "id" | "jobId">

/**
 * Progress of each task of a job in percent, and the progress of the job that watchers got last.
 */
type JobProgress = { percents: Map<string, number>; shown: Progress }

/**
 * Progress of jobs, in memory only, and their watchers. The progress of a job is the weighted sum
 * over its tasks, and never falls.
 */
export class ProgressTracker {
  readonly #tasksOf: (jobId: string) => readonly WeighedTask[]
  // Random part of every version. All versions change with a restart of the Durable Object, so that
  // no watcher waits for a change from before the restart.
  readonly #bootId = newId()
  /**
   * Changes of each job: `count` is their number, and `ending` is the value of `count` at the last
   * change that may have been the end of the job or of one of its tasks.
   */
  readonly #changes = makeBoundedCache<{ count: number; ending: number | null }>(JOBS_MAX)
  readonly #jobs = new Map<string, JobProgress>()
  readonly #sleepers = new Map<string, Set<() => void>>()

  /**
   * Creates a tracker without progress. `tasksOf` returns the open tasks of a job with their
   * weights. The rest of the job's weight belongs to tasks that are over and counts as done.
   */
  constructor(tasksOf: (jobId: string) => readonly WeighedTask[]) {
    this.#tasksOf = tasksOf
  }

  /** Returns the progress of a job. Returns null if the progress is unknown. */
  of(jobId: string): Progress | null {
    const { percents, shown } = this.#jobOf(jobId)
    const percent = Math.max(shown.percent, percentOf(this.#tasksOf(jobId), percents))
    return percent === 0 && !shown.detail ? null : { ...shown, percent }
  }

  /** Returns the progress of jobs by id. Jobs without a running task are absent. */
  ofJobs(jobIds: readonly string[]): Map<string, Progress> {
    const all = jobIds.map((jobId) => [jobId, this.of(jobId)] as const)
    return new Map(all.flatMap(([jobId, progress]) => (progress ? [[jobId, progress]] : [])))
  }

  /** Applies a runner's progress report of a task. */
  reported({ id, jobId }: TaskOfJob, reported: Progress): void {
    const { percents, shown } = this.#jobOf(jobId)
    percents.set(id, reported.percent)
    const open = this.#tasksOf(jobId)
    const percent = Math.max(shown.percent, percentOf(open, percents))
    // Drops the details if several tasks are open, because the details of a single task would
    // mislead.
    const next = open.length > 1 ? { percent } : { ...reported, percent }
    this.#jobs.set(jobId, { percents, shown: next })
    this.#wake(jobId)
  }

  /**
   * Drops the percentage of a task that ended or was requeued. The percentage of the job that
   * watchers see stays the same, so that it never falls.
   */
  runEnded({ id, jobId }: TaskOfJob): void {
    const { percents, shown } = this.#jobOf(jobId)
    const percent = this.of(jobId)?.percent ?? shown.percent
    percents.delete(id)
    if (this.#tasksOf(jobId).length === 0) this.#jobs.delete(jobId)
    else this.#jobs.set(jobId, { percents, shown: { percent } })
    this.mayBeOver(jobId)
  }

  /**
   * Wakes the watchers of a job that may have changed in D1, but not those that wait for an end.
   */
  jobChanged(jobId: string): void {
    this.#countChange(jobId, false)
  }

  /** Wakes all watchers of a job, because the job or one of its tasks may have ended in D1. */
  mayBeOver(jobId: string): void {
    this.#countChange(jobId, true)
  }

  /**
   * Waits until the state of a job differs from `lastSeen`, the state that the caller knows, or
   * until the timeout. Returns the job's present version and progress; at once if `lastSeen` is
   * null.
   */
  async next(
    jobId: string,
    lastSeen: JobVersionSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobState> {
    const until = Date.now() + timeoutMs
    for (;;) {
      const change = this.#changeOf(jobId)
      const leftMs = until - Date.now()
      if (lastSeen === null || isNew(change, lastSeen) || leftMs <= 0) return change
      await this.#sleep([jobId], leftMs)
    }
  }

  /**
   * Waits until one of the jobs differs from the state in `lastSeen`, which the caller knows, or
   * until the timeout. Returns the present state of all these jobs.
   */
  async nextOfJobs(
    jobIds: readonly string[],
    lastSeen: JobVersionsSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobStates> {
    const until = Date.now() + timeoutMs
    for (;;) {
      const changes = this.#changesOf(jobIds)
      const leftMs = until - Date.now()
      if (lastSeen === null || areNew(changes, lastSeen) || leftMs <= 0) return changes
      await this.#sleep(jobIds, leftMs)
    }
  }

  #changesOf(jobIds: readonly string[]): WatchedJobStates {
    const counts = jobIds.map((jobId) => this.#changes.get(jobId))
    const versions = counts.map((changes) => changes?.count ?? 0)
    const endings = counts.map((changes) => changes?.ending ?? 0)
    return {
      version: [this.#bootId, ...versions].join("."),
      endings: [this.#bootId, ...endings].join("."),
      progress: this.ofJobs(jobIds),
    }
  }

  #jobOf(jobId: string): JobProgress {
    return this.#jobs.get(jobId) ?? { percents: new Map(), shown: { percent: 0 } }
  }

  #changeOf(jobId: string): WatchedJobState {
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

  async #sleep(jobIds: readonly string[], timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const jobId of jobIds) {
      const ofJob = this.#sleepers.get(jobId) ?? new Set()
      this.#sleepers.set(jobId, ofJob.add(resolve))
    }
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    for (const jobId of jobIds) {
      const ofJob = this.#sleepers.get(jobId)
      ofJob?.delete(resolve)
      if (ofJob?.size === 0) this.#sleepers.delete(jobId)
    }
  }
}

/**
 * Reports whether two values of a job's progress are the same. Ignores the estimated remaining
 * time.
 */
export function isSameProgress(one: Progress | null, other: Progress | null): boolean {
  return marksOf(one) === marksOf(other)
}

function marksOf(progress: Progress | null): string {
  const { frame, time_seconds, speed, size_bytes } = progress?.detail ?? {}
  return [progress?.percent ?? 0, frame, time_seconds, speed, size_bytes].join(" ")
}

function isNew(change: WatchedJobState, lastSeen: JobVersionSeenByCaller): boolean {
  if (lastSeen.endings !== undefined) return change.endings !== lastSeen.endings
  if (change.version !== lastSeen.version) return true
  return lastSeen.progress !== undefined && !isSameProgress(change.progress, lastSeen.progress)
}

function areNew(changes: WatchedJobStates, lastSeen: JobVersionsSeenByCaller): boolean {
  if (lastSeen.endings !== undefined) return changes.endings !== lastSeen.endings
  if (changes.version !== lastSeen.version) return true
  return lastSeen.percent !== undefined && lastSeen.percent !== sumProgressPercents(changes)
}

/**
 * Returns the sum of the percentages of watched jobs. Since the percentage of a job never falls, a
 * change of any job's percentage changes the sum.
 */
export function sumProgressPercents({ progress }: Pick<WatchedJobStates, "progress">): number {
  return progress.values().reduce((sum, { percent }) => sum + percent, 0)
}

/** Returns the percent of a job from its open tasks. The weight of ended tasks counts as done. */
function percentOf(open: readonly WeighedTask[], percents: ReadonlyMap<string, number>): number {
  const [first] = open
  if (!first) return 0
  const workLeft = open.map(({ id, weight }) => weight * (100 - (percents.get(id) ?? 0)))
  const percent = 100 - workLeft.reduce((sum, each) => sum + each, 0) / first.jobWeight
  return Math.min(PERCENT_BEFORE_END, Math.max(0, percent))
}
