import { DurableObject } from "cloudflare:workers"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { doOrLog } from "../../log.ts"
import type {
  DispatcherRpc,
  Heartbeat,
  JobChange,
  LostRuns,
  Progress,
  SeenJob,
  SlotAllocation,
  TaskMessage,
} from "../../rpc.ts"
import { deleteTask } from "../../runner/client.ts"
import { databaseOf } from "../../storage/database.ts"
import { openTaskQueue } from "../../storage/task-queue.ts"
import type { QueuedTask } from "../../storage/queued-tasks.ts"
import { isRunningAt } from "../../storage/tasks.ts"
import type { JobSnapshot } from "../../storage/transitions.ts"
import { openArrivals } from "./arrivals.ts"
import { cancelJobsOfDeleted } from "./cancel-deleted.ts"
import { openChecks } from "./checks.ts"
import { dispatchTask } from "./dispatch-task.ts"
import { openGathering } from "./gather.ts"
import { openJobNotes } from "./job-notes.ts"
import { openLeaseClock } from "./lease-clock.ts"
import { openNextAlarm } from "./next-alarm.ts"
import { openRecentIds } from "./recent-ids.ts"
import {
  isDispatching,
  isLeaseOver,
  isLeaseTooLong,
  isPosted,
  isRunLost,
  renewedTask,
  runningTask,
} from "./queued-task.ts"
import { endLostRun, requeueLost } from "./requeue.ts"
import { openSlotRequests } from "./request-slots.ts"
import { openWalks } from "./walks.ts"
import { openWatchers } from "./watchers.ts"

/** Queues an account's tasks, holds their leases and knows their progress; one per account. */
export class Dispatcher extends DurableObject<Env> implements DispatcherRpc {
  readonly #queue = openTaskQueue(this.ctx.storage.sql)
  readonly #watchers = openWatchers((jobId) => this.#queue.ofJob(jobId))
  readonly #dispatching = new Set<string>()
  readonly #notes = openJobNotes((accountId) => databaseOf(this.env, accountId), {
    onStarted: (jobIds, started) => {
      this.#queue.claimsStarted(started)
      for (const jobId of jobIds) this.#watchers.jobChanged(jobId)
    },
    inBackground: (work) => this.#inBackground(work),
  })
  /** Tasks that left the queue; D1 alone brings one back. */
  readonly #left = openRecentIds()
  readonly #slots = openSlotRequests(this.env, this.#queue)
  readonly #leaseClock = openLeaseClock()
  readonly #nextAlarm: ReturnType<typeof openNextAlarm>
  readonly #walks = openWalks(this.#queue)
  readonly #checks: ReturnType<typeof openChecks>
  readonly #gather = openGathering<TaskMessage[]>()
  readonly #arrivals = openArrivals({ queue: this.#queue, left: this.#left, notes: this.#notes })

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const walks = this.#walks
    this.#nextAlarm = openNextAlarm(ctx.storage, this.#queue, {
      waitMsMax: () => settingsOf(env).WAIT_SECONDS_MAX * 1000,
      isHurried: () => walks.isHurried(),
    })
    this.#checks = openChecks(env, this.#queue, {
      walks,
      notes: this.#notes,
      remove: (id, killed) => this.#remove(id, killed),
      onReconciled: (accountId) => this.#reconciled(accountId),
    })
  }

  async accept(accountId: string, tasks: TaskMessage[]): Promise<void> {
    await this.#gather(tasks, (calls) => this.#enqueue(accountId, calls))
  }

  async renewLease(accountId: string, jobId: string, heartbeat: Heartbeat): Promise<boolean> {
    const { taskId, fence, boot, progress } = heartbeat
    const task = this.#queue.find(taskId)
    if (task && task.fence === fence && isPosted(task)) {
      if (task.boot !== null && task.boot !== boot) return false
      this.#queue.renew(runningTask(task, boot, Date.now()))
      if (task.boot === null) this.#notes.taskTaken(accountId, task)
      if (progress) this.#watchers.progressed({ id: taskId, jobId }, progress)
      return true
    }
    return await isRunningAt(databaseOf(this.env, accountId), { taskId, fence })
  }

  async tasksEnded(accountId: string, ids: string[], killed = false, over = false): Promise<void> {
    const ending = [...this.#queue.findAll(ids).values()]
    for (const { id, jobId, pool } of ending) {
      this.#slots.forgetOwing(pool)
      if (over) this.#remove(id, killed)
      else this.#watchers.mayBeOver(jobId)
    }
    await this.#checks.lookAfter(accountId, { ids, ending, over, killed })
    this.#pump(accountId)
  }

  async filesGone(accountId: string, fileIds: string[]): Promise<void> {
    await this.#checks.lookForFiles(accountId, fileIds)
    this.#pump(accountId)
  }

  async claimedJob(taskId: string): Promise<JobSnapshot | null> {
    return this.#queue.takeClaim(taskId)
  }

  async progressOfJobs(jobIds: string[]): Promise<Map<string, Progress>> {
    return this.#watchers.progressOfJobs(jobIds)
  }

  async nextChange(jobId: string, seen: SeenJob | null, timeoutMs: number): Promise<JobChange> {
    return await this.#watchers.next(jobId, seen, timeoutMs)
  }

  async tick(accountId: string): Promise<void> {
    await this.#nextAlarm.armLater(accountId)
    await this.tasksEnded(accountId, await cancelJobsOfDeleted(this.env, accountId), true)
    await this.#checks.adopt(accountId)
    await this.#checks.lookAround(accountId)
    await this.#checks.expire(accountId)
    this.#pump(accountId)
  }

  async runsLost(accountId: string, lost: LostRuns): Promise<void> {
    for (const { id } of this.#queue.underWay()) {
      await doOrLog("dispatcher.requeue_failed", { task_id: id }, async () => {
        await this.#requeue(accountId, id, (task) => isRunLost(task, lost))
      })
    }
    this.#pump(accountId)
  }

  async wake(accountId: string, pool?: string): Promise<void> {
    this.#slots.forgetOwing()
    // A pool that knows the account tells a queue that does not: what it knew is lost.
    if (this.#queue.account() === null) await this.tick(accountId)
    this.#slots.requestAnew(pool)
    this.#pump(accountId)
  }

  async planChanged(accountId: string): Promise<void> {
    this.#slots.forgetPlan()
    this.#slots.forgetOwing()
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
    const accountId = this.#queue.account()
    this.#nextAlarm.wentOff()
    if (accountId === null) return
    await doOrLog("dispatcher.check_leases_failed", {}, () => this.#checkLeases(accountId))
    await doOrLog("dispatcher.check_tasks_failed", {}, async () => {
      if (this.#walks.isAdopting()) await this.#checks.adopt(accountId)
      await this.#checks.lookAround(accountId)
    })
    await doOrLog("dispatcher.expire_failed", {}, () => this.#checks.expire(accountId))
    this.#pump(accountId)
    this.#notes.noteLater(accountId)
    this.#queue.flush()
    await this.#nextAlarm.armNext(accountId)
  }

  /** Queues what calls brought that came at once, with one wait for the disk. */
  async #enqueue(accountId: string, calls: readonly TaskMessage[][]): Promise<void> {
    const open = this.#arrivals.find(calls)
    if (open.length === 0) return
    await this.#nextAlarm.armSoon(accountId)
    const blocked = this.#arrivals.queue(open)
    this.#notes.noteLater(accountId)
    // What a blocked task waits for may have come while the call was on its way.
    const looked = this.#checks.look(accountId, blocked, true)
    this.#inBackground(looked.then(() => this.#pump(accountId)))
  }

  /** Requests slots and starts what gets one; nobody waits for a pool that has to end a container. */
  #pump(accountId: string): void {
    const requested = this.#slots.request(accountId, (task) => {
      this.#dispatch(accountId, task)
    })
    this.#inBackground(
      requested.then(async () => {
        if (this.#slots.hasFailed()) await this.#nextAlarm.armSoon(accountId)
      }),
    )
  }

  #dispatch(accountId: string, task: QueuedTask): void {
    const { id, allocation } = task
    if (this.#dispatching.has(id)) return
    this.#dispatching.add(id)
    this.#inBackground(this.#nextAlarm.armSoon(accountId))
    const done = dispatchTask(this.env, this.#queue, accountId, task).then(async (outcome) => {
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

  /** A task is over, and its job and those that wait for its files may be so too. */
  async #leave(accountId: string, task: QueuedTask): Promise<void> {
    this.#remove(task.id, false)
    const ending = [task, ...this.#queue.ofJob(task.jobId)]
    await this.#checks.lookAfter(accountId, { ids: [task.id], ending, over: false, killed: true })
  }

  async #checkLeases(accountId: string): Promise<void> {
    const now = Date.now()
    const isClockOff = this.#leaseClock.isOff(now)
    for (const { id } of this.#queue.underWay()) {
      // It may be another state since the list was read: an earlier one may have been awaited.
      const task = this.#queue.find(id)
      if (!task || this.#dispatching.has(id)) continue
      const isLeaseOff = isClockOff || isLeaseTooLong(task, now)
      if (isDispatching(task) || isLeaseOff) this.#queue.save(renewedTask(task, Date.now()))
      if (isDispatching(task)) this.#dispatch(accountId, task)
      await doOrLog("dispatcher.requeue_failed", { task_id: id }, async () => {
        await this.#requeue(accountId, id, isLeaseOver)
      })
    }
  }

  /** Requeues a task that is lost, ends its run and releases its slot; false where its run goes on. */
  async #requeue(
    accountId: string,
    taskId: string,
    isLost: (task: QueuedTask) => boolean,
    handsOver = false,
  ): Promise<boolean> {
    const lost = { accountId, taskId, isLost, handsOver }
    const requeued = await requeueLost(this.env, this.#queue, lost)
    if (!requeued) return false
    const { task, open } = requeued
    this.#inBackground(endLostRun(this.env, requeued))
    if (open.length === 0) {
      await this.#leave(accountId, task)
      return true
    }
    this.#watchers.runEnded(task)
    this.#slots.forgetOwing(task.pool)
    await this.#checks.reconcile(accountId, open)
    return true
  }

  async #reconciled(accountId: string): Promise<void> {
    await this.#nextAlarm.armNext(accountId)
    const waitMs = this.#queue.nextReadyIn(Date.now())
    // Tasks that back off start without a call from anybody.
    if (waitMs !== null) {
      this.#inBackground(scheduler.wait(waitMs).then(() => this.#pump(accountId)))
    }
  }

  #remove(id: string, killed: boolean): void {
    const task = this.#queue.find(id)
    if (!task) return
    const { pool, slot, fence } = task
    this.#slots.forgetOwing(pool)
    this.#queue.remove(id)
    this.#left.add(id)
    this.#notes.taskLeft(id)
    this.#watchers.runEnded(task)
    if (killed && slot && fence) {
      this.#inBackground(deleteTask(this.env, { slot, taskId: id, fence }))
    }
  }

  #inBackground(work: Promise<unknown>): void {
    this.ctx.waitUntil(doOrLog("dispatcher.failed", {}, () => work))
  }
}
