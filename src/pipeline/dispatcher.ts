import { DurableObject } from "cloudflare:workers"
import { LEASE_MS } from "../contract/protocol.ts"
import { limitsOf, settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { deleteTask, endSilentRun } from "../runner/client.ts"
import { openDatabase } from "../storage/database.ts"
import { isLost, isPosted, makeHeldTask, openHeldTasks } from "../storage/held-tasks.ts"
import type { Gone, HeldTask, HeldTasks, NewHeldTask } from "../storage/held-tasks.ts"
import { noteAccepted } from "../storage/jobs.ts"
import { findPlan, isRunningAt, listOpenTasks } from "../storage/tasks.ts"
import type { OpenTask } from "../storage/tasks.ts"
import { askForSlots } from "./ask.ts"
import { dispatchTask } from "./dispatch.ts"
import { takeBackMoves } from "./job.ts"
import { judgeTasks } from "./judge.ts"
import { endJob, move } from "./settle.ts"
import { isBlocked } from "./task.ts"
import { openWatchers } from "./watchers.ts"
import type { Change, Progress, Seen } from "./watchers.ts"
import { logError } from "../log.ts"

const ALARM_MS = 5_000
const NOTE_ACCEPTED_MS = 50
/** The pool says when it can give what was asked for; until then an ask changes nothing. */
const OPEN_ASK_MS = 4_000

/** A task as its job was created: enough to hold it without reading D1. */
export type NewTask = { id: string; jobId: string; priority: number; blocked: boolean }

/** What a runner's sign of life says. */
export type Sign = { taskId: string; fence: number; boot: string; progress?: Progress | undefined }

/** Orders an account's tasks, holds their leases and knows their progress; one per account. */
export class Dispatcher extends DurableObject<Env> {
  readonly #held: HeldTasks
  readonly #watchers = openWatchers()
  readonly #dispatching = new Set<string>()
  readonly #accepted = new Set<string>()
  #runningMax: number | null = null
  #openAskAt = 0
  #pumping = false
  #pumpAgain = false
  #noting = false
  #armed = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#held = openHeldTasks(ctx.storage.sql)
  }

  /** Takes a job's tasks in; said twice it changes nothing. */
  async accept(accountId: string, tasks: NewTask[]): Promise<void> {
    await this.#arm(accountId)
    for (const task of tasks) {
      this.#hold({ ...task, step: task.blocked ? "blocked" : "waiting" })
      this.#accepted.add(task.jobId)
    }
    this.#after(this.#noteAccepted())
    // What a blocked task waits for may have come while it was on its way here.
    const isAnyBlocked = tasks.some((task) => task.blocked)
    this.#after(isAnyBlocked ? this.ended(accountId, []) : this.pump(accountId))
  }

  /** Prolongs the lease of a run that is still the task's; false: kill the run. */
  async renew(accountId: string, jobId: string, sign: Sign): Promise<boolean> {
    const task = this.#held.find(sign.taskId)
    if (task && task.fence === sign.fence && isPosted(task)) {
      if (task.boot !== null && task.boot !== sign.boot) return false
      const leaseUntil = Date.now() + LEASE_MS
      this.#held.save({ ...task, step: "running", boot: sign.boot, leaseUntil })
      if (task.step === "posting") this.#watchers.moved(jobId)
      if (sign.progress) this.#watchers.progressed(jobId, sign.progress)
      return true
    }
    const place = { accountId, taskId: sign.taskId, fence: sign.fence }
    return await isRunningAt(openDatabase(this.env.DB), place)
  }

  /** Lets go of tasks that are over, judges those that waited for them, and starts others. */
  async ended(accountId: string, taskIds: string[], stopped = false): Promise<void> {
    const ending = taskIds.flatMap((id) => this.#held.find(id) ?? [])
    for (const { jobId } of ending) this.#watchers.moved(jobId)
    if (ending.length > 0) this.#openAskAt = 0
    const ids = ending.map((task) => task.id)
    const blocked = this.#held.blocked().map((task) => task.id)
    if (ids.length + blocked.length > 0) {
      const open = await this.#readOpen(accountId, [...ids, ...blocked])
      const stillOpen = new Set(open.map((task) => task.id))
      for (const id of ids) if (!stillOpen.has(id)) this.#letGo(id, stopped)
      await this.#judge(open)
    }
    await this.pump(accountId)
  }

  /** How far a job is; null where nothing of it is under way. */
  async progressOf(jobId: string): Promise<Progress | null> {
    return this.#watchers.progressOf(jobId)
  }

  /** Resolves once a job moved or went further than it was seen to be, or the time is over. */
  async nextChange(jobId: string, seen: Seen | null, timeoutMs: number): Promise<Change> {
    return await this.#watchers.next(jobId, seen, timeoutMs)
  }

  /** Makes what is held agree with D1, and goes on. */
  async tick(accountId: string): Promise<void> {
    await this.#arm(accountId)
    const open = await this.#readOpen(accountId)
    for (const task of open) {
      this.#adopt(task)
      this.#accepted.add(task.jobId)
    }
    this.#after(this.#noteAccepted())
    const stillOpen = new Set(open.map((task) => task.id))
    const gone = this.#held.all().filter((task) => !stillOpen.has(task.id))
    await this.#judge(open)
    await this.ended(
      accountId,
      gone.map((task) => task.id),
    )
  }

  /** A runner's process came up, or a slot's container stopped: runs that went with it come back. */
  async runsLost(accountId: string, gone: Gone): Promise<void> {
    const lost = this.#held.underWay().filter((task) => isLost(task, gone))
    for (const task of lost) await this.#takeBack(task, true)
    await this.pump(accountId)
  }

  /** The pool gave a slot that was asked for before, or heard nothing for long. */
  async poked(accountId: string): Promise<void> {
    this.#openAskAt = 0
    await this.pump(accountId)
  }

  /** Asks the pool for slots and starts what got one. */
  async pump(accountId: string): Promise<void> {
    if (this.#pumping) {
      this.#pumpAgain = true
      return
    }
    this.#pumping = true
    try {
      do {
        this.#pumpAgain = false
        await this.#pumpOnce(accountId)
      } while (this.#pumpAgain)
    } finally {
      this.#pumping = false
    }
  }

  override async alarm(): Promise<void> {
    const accountId = this.#held.fact("account")
    this.#armed = false
    if (accountId === null) return
    try {
      await this.#checkLeases(accountId)
      await this.ended(accountId, await this.#findClosed(accountId), true)
    } catch (error) {
      logError("dispatcher.alarm_failed", { error: String(error) })
    }
    if (!this.#held.isEmpty() || this.#held.spent().length > 0) await this.#arm(accountId)
  }

  async #pumpOnce(accountId: string): Promise<void> {
    if (Date.now() - this.#openAskAt < OPEN_ASK_MS) return
    const asked = { accountId, runningMax: await this.#limit(accountId) }
    const { started, isOpen } = await askForSlots(this.env, this.#held, asked)
    this.#openAskAt = isOpen ? Date.now() : 0
    for (const task of started) this.#start(task, accountId)
  }

  #start(task: HeldTask, accountId: string): void {
    if (this.#dispatching.has(task.id)) return
    this.#dispatching.add(task.id)
    this.#held.save({ ...task, leaseUntil: Date.now() + LEASE_MS })
    const done = dispatchTask(this.env, this.#held, task.id, task.grant).then(async (outcome) => {
      this.#dispatching.delete(task.id)
      if (outcome === "running") this.#watchers.moved(task.jobId)
      if (outcome === "gone") this.#letGo(task.id, false)
      const held = this.#held.find(task.id)
      if (outcome === "no capacity" && held) await this.#takeBack(held, false)
      if (outcome !== "running") await this.pump(accountId)
    })
    this.#after(done.finally(() => this.#dispatching.delete(task.id)))
  }

  async #checkLeases(accountId: string): Promise<void> {
    for (const task of this.#held.underWay()) {
      if (this.#dispatching.has(task.id)) continue
      if (task.step === "starting" || task.step === "posting") this.#start(task, accountId)
      else if (task.leaseUntil <= Date.now()) await this.#takeBack(task, true)
    }
  }

  /** Tasks under way that are over in D1: the word of it can be lost while their run goes on. */
  async #findClosed(accountId: string): Promise<string[]> {
    const ids = this.#held.underWay().map((task) => task.id)
    if (ids.length === 0) return []
    const open = new Set((await this.#readOpen(accountId, ids)).map((task) => task.id))
    return ids.filter((id) => !open.has(id))
  }

  /** D1 alone says whose task it is: it moves first, then the run is ended and the grant let go. */
  async #takeBack(task: HeldTask, counted: boolean): Promise<void> {
    const { id, jobId, fence, slot, grant } = task
    if (fence === null) return
    const lost = { taskId: id, fence, counted, now: Date.now() }
    const { snapshot } = await move(this.env, jobId, (read) => takeBackMoves(read, lost))
    const end = counted ? endSilentRun : deleteTask
    if (slot && grant) this.#after(end(this.env, { slot, taskId: id, fence, grant }))
    const accountId = snapshot?.job.accountId
    const open = accountId ? await this.#readOpen(accountId, [id]) : []
    if (open.length === 0) return this.#letGo(id, false)
    this.#watchers.paused(jobId)
    this.#openAskAt = 0
    await this.#judge(open)
  }

  async #readOpen(accountId: string, ids?: string[]): Promise<OpenTask[]> {
    return await listOpenTasks(openDatabase(this.env.DB), accountId, ids)
  }

  async #judge(open: OpenTask[]): Promise<void> {
    const waitMsMax = settingsOf(this.env).WAIT_SECONDS_MAX * 1000
    for (const { jobId, failure } of judgeTasks(this.#held, open, { now: Date.now(), waitMsMax })) {
      await endJob(this.env, jobId, { state: "failed", failure })
      for (const task of this.#held.ofJob(jobId)) this.#letGo(task.id, false)
    }
    this.#pumpLater()
  }

  /** Pumps again when the first of the tasks that hold back may start. */
  #pumpLater(): void {
    const accountId = this.#held.fact("account")
    const waitMs = this.#held.nextReadyIn(Date.now())
    if (accountId === null || waitMs === null) return
    this.#after(scheduler.wait(waitMs).then(() => this.pump(accountId)))
  }

  #adopt(task: OpenTask): void {
    if (task.state !== "running") {
      return this.#hold({ ...task, step: isBlocked(task.inputs) ? "blocked" : "waiting" })
    }
    const { slot, grant, fence } = task
    this.#hold({ ...task, step: "running", slot, grant, fence })
    if (grant !== null) this.#held.spend(grant)
  }

  #hold(task: NewHeldTask): void {
    const added = this.#held.add(makeHeldTask(task, Date.now() + LEASE_MS))
    if (added && task.step === "waiting") this.#pumpAgain = true
  }

  #letGo(id: string, stopped: boolean): void {
    const task = this.#held.find(id)
    if (!task) return
    this.#openAskAt = 0
    this.#held.drop(id)
    this.#watchers.stopped(task.jobId)
    const { slot, fence } = task
    if (stopped && slot && fence) this.#after(deleteTask(this.env, { slot, taskId: id, fence }))
  }

  async #limit(accountId: string): Promise<number> {
    if (this.#runningMax !== null) return this.#runningMax
    const plan = await findPlan(openDatabase(this.env.DB), accountId)
    this.#runningMax = plan ? limitsOf(plan, settingsOf(this.env)).runningJobsMax : 1
    return this.#runningMax
  }

  /** Notes acceptances in D1 together; those of tasks that started meanwhile are noted already. */
  async #noteAccepted(): Promise<void> {
    if (this.#noting) return
    this.#noting = true
    await scheduler.wait(NOTE_ACCEPTED_MS)
    this.#noting = false
    const ids = [...this.#accepted]
    this.#accepted.clear()
    await noteAccepted(openDatabase(this.env.DB), ids, Date.now())
  }

  async #arm(accountId: string): Promise<void> {
    if (this.#armed) return
    this.#held.note("account", accountId)
    await this.ctx.storage.setAlarm(Date.now() + ALARM_MS)
    this.#armed = true
  }

  #after(work: Promise<unknown>): void {
    this.ctx.waitUntil(
      work.catch((error: unknown) => logError("dispatcher.failed", { error: String(error) })),
    )
  }
}
