import type { AccountDatabase } from "../db/database.ts"
import { storeAcceptedAndStartedJobs } from "../db/jobs/jobs.ts"
import type { StartedJob, TaskStart } from "../db/jobs/jobs.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import type { QueuedTask } from "./queued-task.ts"

/**
 * Delay before job starts are written to D1, in milliseconds. A task that ends earlier needs no
 * such write.
 */
const NOTE_AFTER_MS = 200
const CLAIMS_MAX = 256
/**
 * Maximum number of rows of a job that is cached at a claim. Larger jobs are read again at the end
 * of each task.
 */
const ROWS_MAX = 16

type Hooks = {
  /** Called after the start of a job was written to D1. */
  onStarted: (jobId: string) => void
  inBackground: (work: Promise<void>) => void
}

/**
 * Write buffer of a dispatcher. The buffer collects the jobs that were queued and the tasks that
 * runners have started, and writes their states to D1 in batches after a short delay, so that no
 * job waits for the write. The buffer also caches the snapshot of a job that the claim of a task
 * reads.
 */
export class JobWriteBuffer {
  readonly #openDatabase: (accountId: string) => AccountDatabase
  readonly #hooks: Hooks
  readonly #accepted = new Set<string>()
  readonly #taken = new Map<string, TaskStart>()
  readonly #claimed = new Map<string, JobSnapshot>()
  #isNoting = false

  constructor(openDatabase: (accountId: string) => AccountDatabase, hooks: Hooks) {
    this.#openDatabase = openDatabase
    this.#hooks = hooks
  }

  jobAccepted(jobId: string): void {
    this.#accepted.add(jobId)
  }

  /**
   * Records that a runner has started a task, which starts the task's job. The buffer then need not
   * write that the job was queued, because the claim of the task has already written it.
   */
  taskTaken(accountId: string, { id: taskId, jobId, fence }: QueuedTask): void {
    if (fence === null) return
    this.#accepted.delete(jobId)
    if (this.#taken.get(taskId)?.fence !== fence) {
      this.#taken.set(taskId, { jobId, taskId, fence, at: Date.now() })
    }
    this.noteLater(accountId)
  }

  /**
   * Drops the unwritten start of a task that left the queue, because D1 already has the end of the
   * task.
   */
  taskLeft(taskId: string): void {
    this.#taken.delete(taskId)
  }

  noteLater(accountId: string): void {
    if (this.#isNoting || this.#accepted.size + this.#taken.size === 0) return
    this.#isNoting = true
    this.#hooks.inBackground(this.#note(accountId))
  }

  /**
   * Caches the job as the claim of a task read it, so that the end of the task needs no read. If
   * the job changes meanwhile, the version of the cached snapshot is old, and D1 refuses a
   * transition from the snapshot.
   */
  keepClaim(taskId: string, snapshot: JobSnapshot): void {
    const { tasks, files, inputs } = snapshot
    if (tasks.length + files.length + inputs.length > ROWS_MAX) return
    this.#claimed.set(taskId, snapshot)
    const [oldest] = this.#claimed.size > CLAIMS_MAX ? this.#claimed.keys() : []
    if (oldest !== undefined) this.#claimed.delete(oldest)
  }

  /** Removes from the cache and returns the job's snapshot as the task's claim read it, or null. */
  takeClaim(taskId: string): JobSnapshot | null {
    const snapshot = this.#claimed.get(taskId) ?? null
    this.#claimed.delete(taskId)
    return snapshot
  }

  /** Updates the cached snapshots of jobs whose start was written to D1. */
  claimsStarted(started: readonly StartedJob[]): void {
    const byId = new Map(started.map((job) => [job.id, job]))
    for (const [taskId, { job, files, ...rest }] of this.#claimed) {
      const now = byId.get(job.id)
      if (now === undefined) continue
      // Keeps the snapshot only if the start was the only change of the job since the claim: the
      // version then rose by 1.
      const isNext = now.version === job.version + 1
      const startedTask = { ...rest, job: { ...job, ...now }, files: files.map(startedFile) }
      if (isNext) this.#claimed.set(taskId, startedTask)
      else this.#claimed.delete(taskId)
    }
  }

  async #note(accountId: string): Promise<void> {
    await scheduler.wait(NOTE_AFTER_MS)
    this.#isNoting = false
    const noted = { accepted: [...this.#accepted], taken: [...this.#taken.values()] }
    this.#accepted.clear()
    this.#taken.clear()
    let started: StartedJob[]
    try {
      started = await storeAcceptedAndStartedJobs(this.#openDatabase(accountId), {
        ...noted,
        now: Date.now(),
      })
    } catch (error) {
      for (const jobId of noted.accepted) this.#accepted.add(jobId)
      for (const task of noted.taken) {
        if (!this.#taken.has(task.taskId)) this.#taken.set(task.taskId, task)
      }
      throw error
    }
    this.claimsStarted(started)
    for (const { jobId } of noted.taken) this.#hooks.onStarted(jobId)
  }
}

function startedFile(file: JobSnapshot["files"][number]): JobSnapshot["files"][number] {
  return file.state === "waiting" ? { ...file, state: "running" } : file
}
