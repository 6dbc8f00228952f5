import { DurableObject } from "cloudflare:workers"
import { LEASE_DURATION_MS } from "../contract/protocol.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError } from "../platform/log.ts"
import type {
  DispatcherRpc,
  Heartbeat,
  WatchedJobState,
  LostRunnerProcess,
  JobVersionSeenByCaller,
  JobVersionsSeenByCaller,
  WatchedJobStates,
  SlotAllocation,
  TaskMessage,
} from "../bindings/rpc.ts"
import type { Progress } from "../domain/progress.ts"
import { makeBoundedCache } from "../platform/bounded-cache.ts"
import { killTask } from "../runner/client.ts"
import { openAccountDatabases } from "../db/database.ts"
import { isTaskRunningAtFence } from "../db/jobs/tasks.ts"
import type { JobSnapshot } from "../domain/snapshot.ts"
import { cancelJobsOfDeletedAccount } from "../jobs/cancel.ts"
import { DispatcherAlarm } from "./alarms.ts"
import { dispatchTask } from "./dispatch-task.ts"
import { MicroBatch } from "./enqueue.ts"
import { JobWriteBuffer } from "./job-write-buffer.ts"
import { ProgressTracker } from "./progress.ts"
import { TaskQueue } from "./queue.ts"
import {
  isTaskBeingDispatched,
  isTaskLeaseOver,
  isTaskLeaseTooLong,
  mayRunnerHaveTask,
  isRunLost,
  toNewQueueEntry,
  copyTaskWithNewLease,
  copyTaskAsRunning,
} from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"
import { Reconciler } from "./reconciler.ts"
import { endLostRun, requeueLostTask } from "./requeue.ts"
import { ScanCursors } from "./scan-cursors.ts"
import { SlotRequests } from "./slot-requests.ts"

/** Maximum number of ids of removed tasks that are cached. */
const LEFT_MAX = 10_000

/**
 * Durable Object of an account, which queues its tasks, holds their leases and tracks their
 * progress.
 */
export class Dispatcher extends DurableObject<Env> implements DispatcherRpc {
  readonly #queue = new TaskQueue(this.ctx.storage.sql)
  readonly #progress = new ProgressTracker((jobId) => this.#queue.ofJob(jobId))
  readonly #notes = new JobWriteBuffer((accountId) => openAccountDatabases(this.env, accountId), {
    onStarted: (jobId) => this.#progress.jobChanged(jobId),
    inBackground: (work) => this.#inBackground(work),
  })
  readonly #slots = new SlotRequests(this.env, this.#queue)
  readonly #cursors = new ScanCursors(this.ctx.storage.kv, this.#queue)
  readonly #parts = {
    queue: this.#queue,
    cursors: this.#cursors,
    notes: this.#notes,
    slots: this.#slots,
  }
  readonly #alarms = new DispatcherAlarm(this.ctx.storage, this.env, this.#parts)
  readonly #reconciler = new Reconciler(this.env, {
    ...this.#parts,
    remove: (id, killed) => this.#remove(id, killed),
    onReconciled: (accountId) => this.#alarms.armNext(accountId),
  })
  readonly #accepting = new MicroBatch<TaskMessage[]>()
  readonly #dispatching = new Set<string>()
  /**
   * Ids of tasks that left the queue. The dispatcher ignores late messages for these tasks. If such
   * a task is still open in D1, reconciling queues the task again.
   */
  readonly #left = makeBoundedCache<true>(LEFT_MAX)
  #leasesCheckedAt: number | null = null

  async accept(accountId: string, tasks: TaskMessage[]): Promise<void> {
    await this.#accepting.add(tasks, (calls) => this.#enqueue(accountId, calls.flat()))
  }

  async renewLease(accountId: string, jobId: string, heartbeat: Heartbeat): Promise<boolean> {
    const { taskId, fence, boot, progress } = heartbeat
    const task = this.#queue.find(taskId)
    if (task && task.fence === fence && mayRunnerHaveTask(task)) {
      if (task.boot !== null && task.boot !== boot) return false
      this.#queue.renew(copyTaskAsRunning(task, boot, Date.now()))
      if (task.boot === null) this.#notes.taskTaken(accountId, task)
      if (progress) this.#progress.reported({ id: taskId, jobId }, progress)
      return true
    }
    return await isTaskRunningAtFence(openAccountDatabases(this.env, accountId), { taskId, fence })
  }

  async tasksEnded(accountId: string, ids: string[], killed = false, over = false): Promise<void> {
    const ending = [...this.#queue.findAll(ids).values()]
    for (const { id, jobId } of ending) {
      if (over) this.#remove(id, killed)
      else this.#progress.mayBeOver(jobId)
    }
    await this.#reconciler.reconcileEnded(accountId, { ids, ending, over, killed })
    this.#pump(accountId)
  }

  async filesGone(accountId: string, fileIds: string[]): Promise<void> {
    await this.#reconciler.reconcileFiles(accountId, fileIds)
    this.#pump(accountId)
  }

  async claimedJob(taskId: string): Promise<JobSnapshot | null> {
    return this.#notes.takeClaim(taskId)
  }

  async progressOfJobs(jobIds: string[]): Promise<Map<string, Progress>> {
    return this.#progress.ofJobs(jobIds)
  }

  async nextChange(
    jobId: string,
    lastSeen: JobVersionSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobState> {
    return await this.#progress.next(jobId, lastSeen, timeoutMs)
  }

  async nextChangeOfJobs(
    jobIds: string[],
    lastSeen: JobVersionsSeenByCaller | null,
    timeoutMs: number,
  ): Promise<WatchedJobStates> {
    return await this.#progress.nextOfJobs(jobIds, lastSeen, timeoutMs)
  }

  async tick(accountId: string): Promise<void> {
    await this.#alarms.armLater(accountId)
    await this.tasksEnded(accountId, await cancelJobsOfDeletedAccount(this.env, accountId), true)
    await this.#reconciler.adoptSome(accountId)
    await this.#reconciler.reconcileSome(accountId)
    await this.#reconciler.expire(accountId)
    this.#pump(accountId)
  }

  async runsLost(accountId: string, lostRuns: LostRunnerProcess): Promise<void> {
    for (const { id } of this.#queue.underWay()) {
      await runOrLogError("dispatcher.requeue_failed", { task_id: id }, async () => {
        await this.#requeue(accountId, id, (task) => isRunLost(task, lostRuns))
      })
    }
    this.#pump(accountId)
  }

  async wake(accountId: string, pool?: string): Promise<void> {
    // Without a stored account id, this object has never set an alarm. Since the pool knows the
    // account, the object must have lost its tables, and reads its open tasks from D1 again.
    if (this.#alarms.account() === null) await this.tick(accountId)
    this.#slots.forgetUnmet(pool)
    this.#slots.resync(pool)
    this.#pump(accountId)
  }

  async planChanged(accountId: string): Promise<void> {
    this.#slots.forgetPlan()
    this.#pump(accountId)
  }

  async handOver(
    accountId: string,
    { id, slot }: Pick<SlotAllocation, "id" | "slot">,
  ): Promise<boolean> {
    function isIts(task: QueuedTask): boolean {
      return task.slot === slot && task.allocation === id
    }
    const task = this.#queue.underWay().find(isIts)
    const isDone = !task || (await this.#requeue(accountId, task.id, isIts, true))
    this.#pump(accountId)
    return isDone
  }

  override async alarm(): Promise<void> {
    const accountId = this.#alarms.account()
    this.#alarms.wentOff()
    if (accountId === null) return
    await runOrLogError("dispatcher.check_leases_failed", {}, () => this.#checkLeases(accountId))
    await runOrLogError("dispatcher.check_tasks_failed", {}, async () => {
      if (this.#cursors.isExpedited("open")) await this.#reconciler.adoptSome(accountId)
      await this.#reconciler.reconcileSome(accountId)
    })
    await runOrLogError("dispatcher.expire_failed", {}, () => this.#reconciler.expire(accountId))
    this.#pump(accountId)
    this.#notes.noteLater(accountId)
    this.#queue.flush()
    await this.#alarms.armNext(accountId)
  }

  /**
   * Queues the tasks of simultaneous calls together, so that the object waits for its storage only
   * once.
   */
  async #enqueue(accountId: string, accepted: readonly TaskMessage[]): Promise<void> {
    // Skips tasks that already left the queue: a call that timed out may still have arrived, and
    // the JOBS message that repeats the call may come after the end of the task.
    const tasks = accepted.filter(({ id }) => !this.#left.get(id))
    if (tasks.length === 0) return
    await this.#alarms.armSoon(accountId)
    this.#queue.add(tasks.map(toNewQueueEntry))
    const queued = this.#queue.findAll(tasks.map(({ id }) => id))
    for (const { id, jobId } of tasks) {
      // Records in D1 that the job is queued, so that the sweep does not queue it again. A claimed
      // task needs no such record, because its claim contains it.
      if (queued.get(id)?.fence === null) this.#notes.jobAccepted(jobId)
    }
    this.#notes.noteLater(accountId)
    // Reconciles blocked tasks, because their input files may have become ready before this call
    // arrived.
    const blocked = tasks.flatMap((task) => (task.blocked ? task.id : []))
    const reconciled = this.#reconciler.reconcileTasks(accountId, blocked, true)
    this.#inBackground(reconciled.then(() => this.#pump(accountId)))
  }

  /**
   * Requests slots and dispatches the tasks that get a slot. Runs in the background, because a pool
   * may first have to stop a container.
   */
  #pump(accountId: string): void {
    const requested = this.#slots.request(accountId, (task) => {
      this.#dispatch(accountId, task)
    })
    this.#inBackground(
      requested.then(async () => {
        if (this.#slots.hasFailed()) await this.#alarms.armSoon(accountId)
      }),
    )
  }

  #dispatch(accountId: string, task: QueuedTask): void {
    const { id, allocation } = task
    if (this.#dispatching.has(id)) return
    this.#dispatching.add(id)
    this.#inBackground(this.#alarms.armSoon(accountId))
    const done = dispatchTask(this.env, this.#parts, accountId, task).then(async (outcome) => {
      this.#dispatching.delete(id)
      const queued = this.#queue.find(id)
      if (outcome === "running" && queued) this.#notes.taskTaken(accountId, queued)
      if (outcome === "gone") await this.#leave(accountId, task)
      if (outcome === "no capacity") {
        await this.#requeue(accountId, id, (now) => now.allocation === allocation && !now.boot)
      }
      if (outcome !== "running") this.#pump(accountId)
    })
    this.#inBackground(done.finally(() => this.#dispatching.delete(id)))
  }

  /**
   * Removes a task that is over. Compares the other tasks of the same job, and the tasks that wait
   * for the job's files, with D1, since those tasks may be over too.
   */
  async #leave(accountId: string, task: QueuedTask): Promise<void> {
    this.#remove(task.id, false)
    const ending = [task, ...this.#queue.ofJob(task.jobId)]
    const endedTasks = { ids: [task.id], ending, over: false, killed: true }
    await this.#reconciler.reconcileEnded(accountId, endedTasks)
  }

  async #checkLeases(accountId: string): Promise<void> {
    const now = Date.now()
    // Renews all leases after the clock was set forward or the machine slept, because runs could
    // not renew their leases.
    const isClockOff = now - (this.#leasesCheckedAt ?? now) > LEASE_DURATION_MS
    this.#leasesCheckedAt = now
    for (const { id } of this.#queue.underWay()) {
      // Reads the task again, because the task's state may have changed during an await of this
      // loop.
      const task = this.#queue.find(id)
      if (!task || this.#dispatching.has(id)) continue
      const isLeaseOff = isClockOff || isTaskLeaseTooLong(task, now)
      if (isTaskBeingDispatched(task) || isLeaseOff)
        this.#queue.save(copyTaskWithNewLease(task, Date.now()))
      if (isTaskBeingDispatched(task)) this.#dispatch(accountId, task)
      await runOrLogError("dispatcher.requeue_failed", { task_id: id }, async () => {
        await this.#requeue(accountId, id, isTaskLeaseOver)
      })
    }
  }

  /**
   * Requeues a lost task, ends its run and releases its slot. Returns false if the task's run
   * continues.
   */
  async #requeue(
    accountId: string,
    taskId: string,
    isLost: (task: QueuedTask) => boolean,
    handsOver = false,
  ): Promise<boolean> {
    const end = { accountId, taskId, isLost, handsOver }
    const requeued = await requeueLostTask(this.env, this.#queue, end)
    if (!requeued) return false
    const { task, open } = requeued
    this.#inBackground(endLostRun(this.env, requeued))
    if (open.length === 0) {
      await this.#leave(accountId, task)
      return true
    }
    this.#progress.runEnded(task)
    await this.#reconciler.reconcile(accountId, open)
    return true
  }

  #remove(id: string, killed: boolean): void {
    const task = this.#queue.find(id)
    if (!task) return
    const { slot, fence } = task
    this.#queue.remove(id)
    this.#left.set(id, true, Infinity)
    this.#notes.taskLeft(id)
    this.#progress.runEnded(task)
    if (killed && slot && fence) {
      this.#inBackground(killTask(this.env, { slot, taskId: id, fence }))
    }
  }

  #inBackground(work: Promise<unknown>): void {
    this.ctx.waitUntil(runOrLogError("dispatcher.failed", {}, () => work))
  }
}
