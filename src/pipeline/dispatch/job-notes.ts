import type { AccountDatabase } from "../../storage/database.ts"
import { noteJobs } from "../../storage/jobs.ts"
import type { StartedJob, TakenTask } from "../../storage/jobs.ts"
import type { JobSnapshot } from "../../storage/transitions.ts"
import type { QueuedTask } from "./queued-task.ts"

/** Short tasks are over by then, and their jobs need no note. */
const NOTE_AFTER_MS = 200
const CLAIMS_MAX = 256
/** A job of more rows is read again at the end of each of its tasks. */
const ROWS_MAX = 16

type Hooks = {
  /** D1 has the start of a job. */
  onStarted: (jobId: string) => void
  inBackground: (work: Promise<void>) => void
}

/**
 * State of a dispatcher's jobs beside D1, in memory alone: facts that D1 does not have yet (which jobs are
 * queued, which tasks runners took), and the jobs as the claims of their tasks found them. The facts are
 * noted together, a moment later, beside the way of the jobs; what fails is noted later.
 */
export class JobNotes {
  readonly #databaseOf: (accountId: string) => AccountDatabase
  readonly #hooks: Hooks
  readonly #accepted = new Set<string>()
  readonly #taken = new Map<string, TakenTask>()
  readonly #claimed = new Map<string, JobSnapshot>()
  #isNoting = false

  constructor(databaseOf: (accountId: string) => AccountDatabase, hooks: Hooks) {
    this.#databaseOf = databaseOf
    this.#hooks = hooks
  }

  jobAccepted(jobId: string): void {
    this.#accepted.add(jobId)
  }

  /** A runner took a task, which starts its job; the claim before has said that the job is queued. */
  taskTaken(accountId: string, { id: taskId, jobId, fence }: QueuedTask): void {
    if (fence === null) return
    this.#accepted.delete(jobId)
    if (this.#taken.get(taskId)?.fence !== fence) {
      this.#taken.set(taskId, { jobId, taskId, fence, at: Date.now() })
    }
    this.noteLater(accountId)
  }

  /** D1 has the end of a task, which says more. */
  taskLeft(taskId: string): void {
    this.#taken.delete(taskId)
  }

  noteLater(accountId: string): void {
    if (this.#isNoting || this.#accepted.size + this.#taken.size === 0) return
    this.#isNoting = true
    this.#hooks.inBackground(this.#note(accountId))
  }

  /**
   * Keeps the job that a claim found, for the end of the task. A job that changed since is at another
   * version, so that a transition which is computed from this one is not written.
   */
  keepClaim(taskId: string, snapshot: JobSnapshot): void {
    const { tasks, files, inputs } = snapshot
    if (tasks.length + files.length + inputs.length > ROWS_MAX) return
    this.#claimed.set(taskId, snapshot)
    const [oldest] = this.#claimed.size > CLAIMS_MAX ? this.#claimed.keys() : []
    if (oldest !== undefined) this.#claimed.delete(oldest)
  }

  /** The job as the claim of a task found it, once. */
  takeClaim(taskId: string): JobSnapshot | null {
    const snapshot = this.#claimed.get(taskId) ?? null
    this.#claimed.delete(taskId)
    return snapshot
  }

  /** Updates claimed jobs to what D1 says of them since they have begun. */
  claimsStarted(started: readonly StartedJob[]): void {
    const byId = new Map(started.map((job) => [job.id, job]))
    for (const [taskId, { job, files, ...rest }] of this.#claimed) {
      const now = byId.get(job.id)
      if (now === undefined) continue
      // Another task may have changed the job before.
      const isNext = now.version === job.version + 1
      const begun = { ...rest, job: { ...job, ...now }, files: files.map(startedFile) }
      if (isNext) this.#claimed.set(taskId, begun)
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
      started = await noteJobs(this.#databaseOf(accountId), { ...noted, now: Date.now() })
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
