import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import { openAccountDatabases } from "../db/database.ts"
import {
  listUnreadableInputs,
  listOpenTasksAndReaders,
  listOpenTasks,
  listTasksReadingFiles,
  sumTaskWeightsByJob,
} from "../db/jobs/open-tasks.ts"
import type { OpenTask, FileReadingTasks } from "../db/jobs/open-tasks.ts"
import { computeBackoffMs } from "../jobs/settle/attempts.ts"
import { makeLostInputsFailure } from "../jobs/settle/input-failures.ts"
import { endOpenJob } from "../jobs/settle/settle.ts"
import { expireWaitingJobs } from "./expire-waiting-jobs.ts"
import type { JobWriteBuffer } from "./job-write-buffer.ts"
import type { TaskQueue } from "./queue.ts"
import {
  toQueueEntryOfOpenTask,
  copyTaskAsWaiting,
  mayRunnerHaveTask,
  isTaskWaiting,
  copyTaskWithBackoff,
} from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"
import type { ScanCursors } from "./scan-cursors.ts"
import type { SlotRequests } from "./slot-requests.ts"

/**
 * Age in milliseconds up to which a task may be missing in the queue, because the call or message
 * that queues the task may still arrive.
 */
const LATE_MS = 30_000
/**
 * Maximum number of jobs that one reconciliation ends. Each end takes several of the thousand D1
 * statements that an invocation has.
 */
const ENDED_AT_ONCE_MAX = 30

type Parts = {
  queue: TaskQueue
  cursors: ScanCursors
  notes: JobWriteBuffer
  slots: SlotRequests
  /** Removes a task from the queue. If `killed` is true, also kills the task's run. */
  remove: (id: string, killed: boolean) => void
  /** Called after each reconciliation, which may have changed the first deadline of the queue. */
  onReconciled: (accountId: string) => Promise<void>
}

/** Reconciles the queue of a dispatcher with D1, which holds the truth about tasks. */
export class Reconciler {
  readonly #env: Env
  readonly #parts: Parts

  constructor(env: Env, parts: Parts) {
    this.#env = env
    this.#parts = parts
  }

  /**
   * Reconciles all tasks that have a slot and some waiting tasks with D1, because calls that report
   * a change may be lost.
   */
  async reconcileSome(accountId: string): Promise<void> {
    const { queue, cursors } = this.#parts
    const underWay = queue.underWay().map(({ id }) => id)
    await this.reconcileTasks(accountId, [...underWay, ...cursors.nextWaiting()], true)
  }

  /** Removes queued tasks that are over in D1, and reconciles those that are open. */
  async reconcileTasks(accountId: string, ids: readonly string[], killed: boolean): Promise<void> {
    if (ids.length === 0) return
    const { queue, notes } = this.#parts
    const open = await listOpenTasks(openAccountDatabases(this.#env, accountId), ids)
    this.#removeClosed(ids, open, killed)
    const waiting = new Set(open.flatMap((task) => (task.jobState === "waiting" ? task.id : [])))
    const underWay = waiting.size > 0 ? queue.underWay() : []
    for (const task of underWay) {
      if (task.boot && waiting.has(task.id)) notes.taskTaken(accountId, task)
    }
    await this.reconcile(accountId, open)
  }

  /**
   * Compares tasks that may have ended, and tasks that wait for files of their jobs, with D1, and
   * corrects the queue. `over` means that D1 is known to have the end of all tasks in `ending`.
   * Otherwise reads from D1 which of them are still open.
   */
  async reconcileEnded(
    accountId: string,
    ended: { ids: string[]; ending: QueuedTask[]; over: boolean; killed: boolean },
  ): Promise<void> {
    const { ending, over, killed } = ended
    const unsure = over ? [] : ending.map(({ id }) => id)
    const ids = [...ended.ids, ...unsure]
    if (ids.length === 0 || !this.#parts.queue.hasBlocked()) {
      return await this.reconcileTasks(accountId, unsure, killed)
    }
    const jobIds = ending.map(({ jobId }) => jobId)
    const readers = await listOpenTasksAndReaders(openAccountDatabases(this.#env, accountId), {
      ids,
      jobIds,
    })
    this.#removeClosed(unsure, readers.open, killed)
    await this.#reconcileReaders(accountId, readers)
  }

  /** Reconciles tasks that wait for deleted files. */
  async reconcileFiles(accountId: string, fileIds: string[]): Promise<void> {
    if (this.#parts.queue.isEmpty()) return
    const readers = await listTasksReadingFiles(openAccountDatabases(this.#env, accountId), fileIds)
    await this.#reconcileReaders(accountId, readers)
  }

  /**
   * Queues some open tasks of D1 that are not queued. If one of them is overdue, expedites the scan
   * of open tasks, because the messages of other tasks may be lost too.
   */
  async adoptSome(accountId: string): Promise<void> {
    const { cursors, notes } = this.#parts
    const database = openAccountDatabases(this.#env, accountId)
    const cursor = cursors.at("open")
    const ids = await cursors.findUnknown(database)
    const open = ids.length === 0 ? [] : await listOpenTasks(database, ids)
    if (open.length > 0) {
      const jobIds = [...new Set(open.map(({ jobId }) => jobId))]
      this.#adopt(open, await sumTaskWeightsByJob(database, jobIds))
    }
    const lateBefore = Date.now() - LATE_MS
    if (open.some(({ createdAt }) => createdAt < lateBefore)) cursors.expedite("open", cursor)
    for (const { jobId, isAccepted } of open) if (!isAccepted) notes.jobAccepted(jobId)
    notes.noteLater(accountId)
    await this.reconcile(accountId, open)
  }

  /** Fails jobs that have waited for a runner for too long. */
  async expire(accountId: string): Promise<void> {
    const over = await expireWaitingJobs(this.#env, this.#parts.queue, accountId)
    if (over.length > 0) await this.#leaveJobs(accountId, over)
  }

  /**
   * Reconciles queued tasks with their rows in D1, and ends at most `endsMax` jobs that can never
   * start.
   */
  async reconcile(accountId: string, open: OpenTask[], endsMax = ENDED_AT_ONCE_MAX): Promise<void> {
    const { queue, onReconciled } = this.#parts
    const queued = queue.findAll(open.map(({ id }) => id))
    const now = Date.now()
    const unstartable = new Map<string, string>()
    for (const task of open) {
      const queuedTask = queued.get(task.id)
      if (!queuedTask || task.state !== "waiting") continue
      if (isTaskWaiting(queuedTask) && (task.inputs === "failed" || task.inputs === "gone")) {
        unstartable.set(task.jobId, task.id)
        continue
      }
      const next = reconciledTask(queuedTask, task, now)
      if (next.state !== queuedTask.state || next.pool !== queuedTask.pool) queue.save(next)
    }
    const over = await this.#endUnstartable(accountId, [...unstartable].slice(0, endsMax))
    if (over.length > 0) await this.#leaveJobs(accountId, over, endsMax - over.length)
    else await onReconciled(accountId)
  }

  /**
   * Removes the tasks of ended jobs from the queue, and reconciles the tasks that wait for files of
   * these jobs. Expedites the scan of blocked tasks, because one call ends only some jobs of a long
   * chain.
   */
  async #leaveJobs(
    accountId: string,
    jobIds: readonly string[],
    endsMax = ENDED_AT_ONCE_MAX,
  ): Promise<void> {
    const { queue, cursors, remove } = this.#parts
    for (const { id } of jobIds.flatMap((jobId) => queue.ofJob(jobId))) remove(id, true)
    cursors.expedite("blocked")
    const database = openAccountDatabases(this.#env, accountId)
    const { open } = await listOpenTasksAndReaders(database, { ids: [], jobIds })
    await this.reconcile(accountId, open, endsMax)
  }

  async #reconcileReaders(accountId: string, { open, isWhole }: FileReadingTasks): Promise<void> {
    if (!isWhole) this.#parts.cursors.expedite("blocked")
    await this.reconcile(accountId, open)
  }

  /**
   * Queues open tasks of D1 that are not queued. Updates queued tasks whose claim in D1 is newer
   * than their queue entry.
   */
  #adopt(open: OpenTask[], weights: ReadonlyMap<string, number>): void {
    const { queue, slots } = this.#parts
    const all = queue.findAll(open.map(({ id }) => id))
    const now = Date.now()
    const lacking = open.flatMap((task) => {
      const isBlocked = task.inputs !== "ready"
      const jobWeight = weights.get(task.jobId) ?? task.weight
      const adopted = toQueueEntryOfOpenTask(task, { isBlocked, jobWeight, now })
      if (adopted.allocation !== null) slots.markUsed(adopted.pool, adopted.allocation)
      const queued = all.get(task.id)
      if (!queued) return [adopted]
      // Replaces the entry of a task that waits in the queue but is claimed and running in D1. This
      // object lost its memory after the claim was written.
      const isUnknown = isTaskWaiting(queued) && task.fence > (queued.fence ?? 0)
      if (isUnknown && task.state === "running") queue.save(adopted)
      return []
    })
    queue.add(lacking)
  }

  /**
   * Fails jobs that can never start because an input is lost. `unstartable` contains, for each job,
   * the job's id and the id of one of its tasks. Returns the ids of the ended jobs.
   */
  async #endUnstartable(
    accountId: string,
    unstartable: readonly (readonly [jobId: string, taskId: string])[],
  ): Promise<string[]> {
    const over: string[] = []
    for (const [jobId, taskId] of unstartable) {
      await runOrLogError("dispatcher.end_job_failed", { job_id: jobId }, async () => {
        const lostInputs = await listUnreadableInputs(
          openAccountDatabases(this.#env, accountId),
          taskId,
        )
        const failure = makeLostInputsFailure(lostInputs)
        if (failure === null) return
        await endOpenJob(this.#env, { accountId, jobId }, { state: "failed", failure })
        over.push(jobId)
      })
    }
    return over
  }

  #removeClosed(ids: readonly string[], open: OpenTask[], killed: boolean): void {
    const openIds = new Set(open.map(({ id }) => id))
    for (const id of ids) if (!openIds.has(id)) this.#parts.remove(id, killed)
  }
}

/**
 * Returns the new queue entry of a task that waits according to D1. The entry is requeued with a
 * backoff if the task's last run is over. Otherwise the entry is blocked if an input is pending,
 * else ready.
 */
function reconciledTask(queued: QueuedTask, task: OpenTask, now: number): QueuedTask {
  if (mayRunnerHaveTask(queued) && queued.fence === task.fence) {
    const waitsSince = task.requeuedAt ?? queued.waitsSince
    return copyTaskWithBackoff(queued, { backoffMs: computeBackoffMs(task), waitsSince, now })
  }
  if (!isTaskWaiting(queued)) return queued
  // Takes the pool from D1, because another pool may have been chosen since: the choice of a pool
  // with enough disk may need the size of a stored input.
  return copyTaskAsWaiting({ ...queued, pool: task.pool }, task.inputs === "pending")
}
