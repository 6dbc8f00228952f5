import { DurableObject } from "cloudflare:workers"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
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
import { deleteTask, endSilentRun } from "../../runner/client.ts"
import { databaseOf } from "../../storage/database.ts"
import { openTaskQueue } from "../../storage/task-queue.ts"
import type { QueuedTask, TaskQueue } from "../../storage/task-queue.ts"
import { isRunningAt, listOpenTasks } from "../../storage/tasks.ts"
import type { OpenTask } from "../../storage/tasks.ts"
import { endJob, transitionJob } from "../settle/settle.ts"
import { requeueTransition } from "../settle/transitions.ts"
import type { RequeueCause } from "../settle/transitions.ts"
import { openAcceptances } from "./acceptances.ts"
import { dispatchTask } from "./dispatch-task.ts"
import {
  isDispatching,
  isPosted,
  isRunLost,
  newTask,
  renewedTask,
  runningTask,
} from "./queued-task.ts"
import { adoptTasks, findClosed, reconcileTasks } from "./reconcile.ts"
import { openSlotRequests } from "./request-slots.ts"
import type { SlotRequests } from "./request-slots.ts"
import { openWatchers } from "./watchers.ts"

const ALARM_MS = 5_000
/** Each takes some statements of D1, of which an invocation has a thousand; the next ends others. */
const ENDED_AT_ONCE_MAX = 40

/** Queues an account's tasks, holds their leases and knows their progress; one per account. */
export class Dispatcher extends DurableObject<Env> implements DispatcherRpc {
  readonly #queue: TaskQueue
  readonly #watchers = openWatchers()
  readonly #dispatching = new Set<string>()
  readonly #acceptances = openAcceptances()
  readonly #slots: SlotRequests
  #isPumping = false
  #shallPumpAgain = false
  #isArmed = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#queue = openTaskQueue(ctx.storage.sql)
    this.#slots = openSlotRequests(env, this.#queue)
  }

  async accept(accountId: string, tasks: TaskMessage[]): Promise<void> {
    await this.#arm(accountId)
    for (const task of tasks) {
      this.#queue.add(newTask(task))
      this.#acceptances.add(task.jobId)
    }
    this.#inBackground(this.#acceptances.note(databaseOf(this.env, accountId)))
    // What a blocked task waits for may have come while the call was on its way.
    const isAnyBlocked = tasks.some((task) => task.blocked)
    this.#inBackground(isAnyBlocked ? this.tasksEnded(accountId, []) : this.#pump(accountId))
  }

  async renewLease(accountId: string, jobId: string, heartbeat: Heartbeat): Promise<boolean> {
    const { taskId, fence, boot, progress } = heartbeat
    const task = this.#queue.find(taskId)
    if (task && task.fence === fence && isPosted(task)) {
      if (task.boot !== null && task.boot !== boot) return false
      this.#queue.save(runningTask(task, boot, Date.now()))
      if (isDispatching(task)) this.#watchers.jobChanged(jobId)
      if (progress) this.#watchers.progressed(jobId, progress)
      return true
    }
    return await isRunningAt(databaseOf(this.env, accountId), { taskId, fence })
  }

  async tasksEnded(accountId: string, taskIds: string[], killed = false): Promise<void> {
    const ending = taskIds.flatMap((id) => this.#queue.find(id) ?? [])
    for (const { jobId, pool } of ending) {
      this.#watchers.jobChanged(jobId)
      this.#slots.forgetOwing(pool)
    }
    const ids = ending.map((task) => task.id)
    const blocked = this.#queue.blocked().map((task) => task.id)
    if (ids.length + blocked.length > 0) {
      const open = await listOpenTasks(databaseOf(this.env, accountId), [...ids, ...blocked])
      const openIds = new Set(open.map((task) => task.id))
      for (const id of ids) if (!openIds.has(id)) this.#remove(id, killed)
      await this.#reconcile(accountId, open)
    }
    await this.#pump(accountId)
  }

  async progressOf(jobId: string): Promise<Progress | null> {
    return this.#watchers.progressOf(jobId)
  }

  async nextChange(jobId: string, seen: SeenJob | null, timeoutMs: number): Promise<JobChange> {
    return await this.#watchers.next(jobId, seen, timeoutMs)
  }

  async tick(accountId: string): Promise<void> {
    await this.#arm(accountId)
    const open = await listOpenTasks(databaseOf(this.env, accountId))
    if (adoptTasks(this.#queue, open, Date.now())) this.#shallPumpAgain = true
    for (const { jobId } of open) this.#acceptances.add(jobId)
    this.#inBackground(this.#acceptances.note(databaseOf(this.env, accountId)))
    const openIds = new Set(open.map((task) => task.id))
    const closed = this.#queue.all().filter((task) => !openIds.has(task.id))
    await this.#reconcile(accountId, open)
    await this.tasksEnded(
      accountId,
      closed.map((task) => task.id),
    )
  }

  async runsLost(accountId: string, lost: LostRuns): Promise<void> {
    const tasks = this.#queue.underWay().filter((task) => isRunLost(task, lost))
    for (const task of tasks) await this.#requeue(accountId, task, "failure")
    await this.#pump(accountId)
  }

  async wake(accountId: string): Promise<void> {
    this.#slots.forgetOwing()
    await this.#pump(accountId)
  }

  async planChanged(accountId: string): Promise<void> {
    this.#slots.forgetPlan()
    this.#slots.forgetOwing()
    await this.#pump(accountId)
  }

  async handOver(
    accountId: string,
    { id, slot }: Pick<SlotAllocation, "id" | "slot">,
  ): Promise<boolean> {
    const task = this.#queue.underWay().find((each) => each.slot === slot && each.allocation === id)
    const isDone = !task || (await this.#requeue(accountId, task, "hand-over"))
    await this.#pump(accountId)
    return isDone
  }

  override async alarm(): Promise<void> {
    const accountId = this.#queue.account()
    this.#isArmed = false
    if (accountId === null) return
    try {
      await this.#checkLeases(accountId)
      const closed = await findClosed(databaseOf(this.env, accountId), this.#queue)
      await this.tasksEnded(accountId, closed, true)
    } catch (error) {
      logError("dispatcher.alarm_failed", { error: String(error) })
    }
    if (!this.#queue.isEmpty() || this.#queue.hasUsedAllocations()) await this.#arm(accountId)
  }

  /** Requests slots and starts what got one; a call during another has that one go round again. */
  async #pump(accountId: string): Promise<void> {
    if (this.#isPumping) {
      this.#shallPumpAgain = true
      return
    }
    this.#isPumping = true
    try {
      do {
        this.#shallPumpAgain = false
        const started = await this.#slots.request(accountId)
        for (const task of started) this.#dispatch(accountId, task)
      } while (this.#shallPumpAgain)
    } finally {
      this.#isPumping = false
    }
  }

  #dispatch(accountId: string, task: QueuedTask): void {
    if (this.#dispatching.has(task.id)) return
    this.#dispatching.add(task.id)
    const done = dispatchTask(this.env, this.#queue, accountId, task).then(async (outcome) => {
      this.#dispatching.delete(task.id)
      if (outcome === "running") this.#watchers.jobChanged(task.jobId)
      if (outcome === "gone") this.#remove(task.id, false)
      const queued = this.#queue.find(task.id)
      if (outcome === "no capacity" && queued) await this.#requeue(accountId, queued, outcome)
      if (outcome !== "running") await this.#pump(accountId)
    })
    this.#inBackground(done.finally(() => this.#dispatching.delete(task.id)))
  }

  async #checkLeases(accountId: string): Promise<void> {
    for (const task of this.#queue.underWay()) {
      if (this.#dispatching.has(task.id)) continue
      const now = Date.now()
      if (isDispatching(task)) {
        this.#queue.save(renewedTask(task, now))
        this.#dispatch(accountId, task)
      } else if (task.leaseUntil <= now) {
        await this.#requeue(accountId, task, "failure")
      }
    }
  }

  /**
   * D1 alone says whose task it is: it changes first, then the run is ended and the slot released.
   * False where D1 has the run go on.
   */
  async #requeue(accountId: string, task: QueuedTask, cause: RequeueCause): Promise<boolean> {
    const { id: taskId, jobId, fence, slot, allocation } = task
    if (fence === null) return true
    // Known to the pool before anybody can have the slot again, whatever dies meanwhile.
    if (cause === "failure" && slot && allocation) {
      await this.env.POOL.getByName(task.pool).slotDistrusted({ slot, allocation })
    }
    const lost = { taskId, fence, cause, now: Date.now() }
    const job = { accountId, jobId }
    const { applied, snapshot } = await transitionJob(this.env, job, (read) =>
      requeueTransition(read, lost),
    )
    const known = snapshot?.tasks.find(({ id }) => id === taskId)
    if (!applied && known?.state === "running" && known.fence === fence) return false
    const end = cause === "failure" ? endSilentRun : deleteTask
    if (slot && allocation) {
      this.#inBackground(end(this.env, { slot, taskId, fence, allocation }))
    }
    const open = await listOpenTasks(databaseOf(this.env, accountId), [taskId])
    if (open.length === 0) {
      this.#remove(taskId, false)
      return true
    }
    this.#watchers.taskRequeued(jobId)
    this.#slots.forgetOwing(task.pool)
    await this.#reconcile(accountId, open)
    return true
  }

  async #reconcile(accountId: string, open: OpenTask[]): Promise<void> {
    const waitMsMax = settingsOf(this.env).WAIT_SECONDS_MAX * 1000
    const unstartable = reconcileTasks(this.#queue, open, { now: Date.now(), waitMsMax })
    for (const { jobId, failure } of unstartable.slice(0, ENDED_AT_ONCE_MAX)) {
      await endJob(this.env, { accountId, jobId }, { state: "failed", failure })
      for (const task of this.#queue.ofJob(jobId)) this.#remove(task.id, false)
    }
    const waitMs = this.#queue.nextReadyIn(Date.now())
    // Tasks that back off start without a call from anybody.
    if (waitMs !== null) {
      this.#inBackground(scheduler.wait(waitMs).then(() => this.#pump(accountId)))
    }
  }

  #remove(id: string, killed: boolean): void {
    const task = this.#queue.find(id)
    if (!task) return
    this.#slots.forgetOwing(task.pool)
    this.#queue.remove(id)
    this.#watchers.taskEnded(task.jobId)
    const { slot, fence } = task
    if (killed && slot && fence) {
      this.#inBackground(deleteTask(this.env, { slot, taskId: id, fence }))
    }
  }

  async #arm(accountId: string): Promise<void> {
    if (this.#isArmed) return
    this.#queue.saveAccount(accountId)
    await this.ctx.storage.setAlarm(Date.now() + ALARM_MS)
    this.#isArmed = true
  }

  #inBackground(work: Promise<unknown>): void {
    this.ctx.waitUntil(
      work.catch((error: unknown) => logError("dispatcher.failed", { error: String(error) })),
    )
  }
}
