import type { Env } from "../../env.ts"
import { poolOfTask } from "../../kinds/registry.ts"
import { doOrLog, logError } from "../../log.ts"
import { databaseOf } from "../../storage/database.ts"
import {
  listLostInputs,
  listOpenAndReaders,
  listOpenTasks,
  listReaders,
  sumJobWeights,
} from "../../storage/open-tasks.ts"
import type { OpenTask, Readers } from "../../storage/open-tasks.ts"
import { backoffMs } from "../settle/attempts.ts"
import { lostInputsFailure } from "../settle/input-failures.ts"
import { endJob } from "../settle/settle.ts"
import { expireJobs } from "./expire.ts"
import type { JobNotes } from "./job-notes.ts"
import type { TaskQueue } from "./queue.ts"
import {
  adoptedTask,
  blockedTask,
  isPosted,
  isWaiting,
  NO_POOL,
  requeuedTask,
} from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"
import type { ScanCursors } from "./scan-cursors.ts"
import type { SlotRequests } from "./slot-requests.ts"

/** The call or the message that queues a younger task may be on its way. */
const LATE_MS = 30_000
/** Each end takes some statements of D1, of which an invocation has a thousand; the next ends others. */
const ENDED_AT_ONCE_MAX = 30

type Parts = {
  queue: TaskQueue
  cursors: ScanCursors
  notes: JobNotes
  slots: SlotRequests
  /** Removes a task from the queue; `killed` where its run is to be killed. */
  remove: (id: string, killed: boolean) => void
  /** The queue may have another first deadline. */
  onReconciled: (accountId: string) => Promise<void>
}

/** Reconciles the queue of a dispatcher with D1, which alone says what is true of a task. */
export class Reconciler {
  readonly #env: Env
  readonly #parts: Parts

  constructor(env: Env, parts: Parts) {
    this.#env = env
    this.#parts = parts
  }

  /** Reconciles tasks whose run may be over, and some that wait, since a call may have been lost. */
  async reconcileSome(accountId: string): Promise<void> {
    const { queue, cursors } = this.#parts
    const underWay = queue.underWay().map(({ id }) => id)
    await this.reconcileTasks(accountId, [...underWay, ...cursors.nextWaiting()], true)
  }

  /** Removes those of some queued tasks that are over in D1, and reconciles the others. */
  async reconcileTasks(accountId: string, ids: readonly string[], killed: boolean): Promise<void> {
    if (ids.length === 0) return
    const { queue, notes } = this.#parts
    const open = await listOpenTasks(databaseOf(this.#env, accountId), ids)
    this.#removeClosed(ids, open, killed)
    const waiting = new Set(open.flatMap((task) => (task.jobState === "waiting" ? task.id : [])))
    const underWay = waiting.size > 0 ? queue.underWay() : []
    for (const task of underWay) {
      if (task.boot && waiting.has(task.id)) notes.taskTaken(accountId, task)
    }
    await this.reconcile(accountId, open)
  }

  /**
   * Reconciles tasks that ended, all of them where they are `over` in D1 and some of them maybe
   * otherwise, and tasks that wait for files of their jobs.
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
    const readers = await listOpenAndReaders(databaseOf(this.#env, accountId), { ids, jobIds })
    this.#removeClosed(unsure, readers.open, killed)
    await this.#reconcileReaders(accountId, readers)
  }

  /** Reconciles tasks that wait for files that were deleted. */
  async reconcileFiles(accountId: string, fileIds: string[]): Promise<void> {
    if (this.#parts.queue.isEmpty()) return
    const readers = await listReaders(databaseOf(this.#env, accountId), fileIds)
    await this.#reconcileReaders(accountId, readers)
  }

  /**
   * Queues some of what D1 alone has. Where a task should have been queued long ago, others may be lost
   * too, and the scan is expedited.
   */
  async adoptSome(accountId: string): Promise<void> {
    const { cursors, notes } = this.#parts
    const database = databaseOf(this.#env, accountId)
    const cursor = cursors.at("open")
    const ids = await cursors.findUnknown(database)
    const open = ids.length === 0 ? [] : await listOpenTasks(database, ids)
    if (open.length > 0) {
      const jobIds = [...new Set(open.map(({ jobId }) => jobId))]
      this.#adopt(open, await sumJobWeights(database, jobIds))
    }
    const lateBefore = Date.now() - LATE_MS
    if (open.some(({ createdAt }) => createdAt < lateBefore)) cursors.expedite("open", cursor)
    for (const { jobId, isAccepted } of open) if (!isAccepted) notes.jobAccepted(jobId)
    notes.noteLater(accountId)
    await this.reconcile(accountId, open)
  }

  /** Ends jobs that waited for too long. */
  async expire(accountId: string): Promise<void> {
    const over = await expireJobs(this.#env, this.#parts.queue, accountId)
    this.#removeOver(over)
    if (over.length > 0) await this.#parts.onReconciled(accountId)
  }

  /** Reconciles queued tasks with what D1 says of them, and ends the jobs that can never start. */
  async reconcile(accountId: string, open: OpenTask[]): Promise<void> {
    const { queue, onReconciled } = this.#parts
    const queued = queue.findAll(open.map(({ id }) => id))
    const now = Date.now()
    const unstartable = new Map<string, string>()
    for (const task of open) {
      const known = queued.get(task.id)
      if (!known || task.state !== "waiting") continue
      if (isWaiting(known) && (task.inputs === "failed" || task.inputs === "gone")) {
        unstartable.set(task.jobId, task.id)
        continue
      }
      const next = reconciledTask(known, task, now)
      if (next.state !== known.state || next.pool !== known.pool) queue.save(next)
    }
    this.#removeOver(await this.#endUnstartable(accountId, unstartable))
    await onReconciled(accountId)
  }

  async #reconcileReaders(accountId: string, { open, isWhole }: Readers): Promise<void> {
    if (!isWhole) this.#parts.cursors.expedite("blocked")
    await this.reconcile(accountId, open)
  }

  /** Queues D1's open tasks that are not queued yet, and those that were claimed since they were. */
  #adopt(open: OpenTask[], weights: ReadonlyMap<string, number>): void {
    const { queue, slots } = this.#parts
    const all = queue.findAll(open.map(({ id }) => id))
    const now = Date.now()
    const lacking = open.flatMap((task) => {
      const pool = findPool(task)
      const isBlocked = task.inputs !== "ready" || pool === NO_POOL
      const jobWeight = weights.get(task.jobId) ?? task.weight
      const adopted = adoptedTask(task, { pool, isBlocked, jobWeight, now })
      if (adopted.allocation !== null) slots.markUsed(adopted.pool, adopted.allocation)
      const queued = all.get(task.id)
      if (!queued) return [adopted]
      if (queued.pool === NO_POOL && pool !== NO_POOL) {
        queue.remove(task.id)
        return [adopted]
      }
      // Its claim was made before this queue lost what it knew.
      const isUnknown = isWaiting(queued) && task.fence > (queued.fence ?? 0)
      if (isUnknown && task.state === "running") queue.save(adopted)
      return []
    })
    queue.add(lacking)
  }

  /** Ends jobs that can never start, each by a task of it; the ids of queued tasks whose jobs are over. */
  async #endUnstartable(
    accountId: string,
    unstartable: ReadonlyMap<string, string>,
  ): Promise<string[]> {
    const over: string[] = []
    for (const [jobId, taskId] of [...unstartable].slice(0, ENDED_AT_ONCE_MAX)) {
      await doOrLog("dispatcher.end_job_failed", { job_id: jobId }, async () => {
        const lost = await listLostInputs(databaseOf(this.#env, accountId), taskId)
        const failure = lostInputsFailure(lost)
        if (failure === null) return
        await endJob(this.#env, { accountId, jobId }, { state: "failed", failure })
        over.push(...this.#parts.queue.ofJob(jobId).map(({ id }) => id))
      })
    }
    return over
  }

  #removeClosed(ids: readonly string[], open: OpenTask[], killed: boolean): void {
    const openIds = new Set(open.map(({ id }) => id))
    for (const id of ids) if (!openIds.has(id)) this.#parts.remove(id, killed)
  }

  /** Removes tasks whose jobs were ended; others may wait for what these were to make. */
  #removeOver(ids: readonly string[]): void {
    for (const id of ids) this.#parts.remove(id, true)
    if (ids.length > 0) this.#parts.cursors.expedite("blocked")
  }
}

/** A queued task that D1 has as waiting: requeued where its run is over, ready once its inputs came. */
function reconciledTask(queued: QueuedTask, task: OpenTask, now: number): QueuedTask {
  if (isPosted(queued) && queued.fence === task.fence) {
    const waitsSince = task.requeuedAt ?? queued.waitsSince
    return requeuedTask(queued, { backoffMs: backoffMs(task), waitsSince, now })
  }
  if (!isWaiting(queued)) return queued
  // Which pool has the disk for an input may be known only once that was brought in.
  const pool = queued.pool === NO_POOL ? NO_POOL : (task.pool ?? queued.pool)
  return blockedTask({ ...queued, pool }, task.inputs === "pending" || pool === NO_POOL)
}

/** The pool of a task; none, so that it stays blocked, where this version cannot tell. */
function findPool(task: OpenTask): string {
  try {
    return poolOfTask(task)
  } catch (error) {
    logError("dispatcher.task_without_pool", { task_id: task.id, error: String(error) })
    return NO_POOL
  }
}
