import { computeNextSlotRequestNumber } from "../contract/slot-allocation.ts"
import { getSettings } from "../bindings/env.ts"
import { computeEffectiveLimits } from "../bindings/plan-limits.ts"
import type { Env } from "../bindings/env.ts"
import { runOrLogError, logError } from "../platform/log.ts"
import { getPoolObject } from "../bindings/durable-objects.ts"
import type { PlanLimits } from "../domain/plans.ts"
import type { SlotRequest } from "../bindings/rpc.ts"
import { POOLS } from "../bindings/pools.ts"
import { openAccountDatabases } from "../db/database.ts"
import { findAssignedPlan } from "../db/jobs/tasks.ts"
import type { TaskQueue } from "./queue.ts"
import { copyTaskAsStarting } from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"

const READY_MAX = 100

/**
 * Time after which an unmet slot request is repeated, in milliseconds. The pool wakes the account
 * earlier when a slot is free.
 */
const UNMET_MS = 4_000

/**
 * Age of cached limits from which the next request reads them again in the background, in
 * milliseconds.
 */
const FRESH_MS = 1_000

/**
 * Demand of an account for slots of a pool: the number of wanted slots, and the allocations that
 * are in use or released.
 */
type SlotDemand = Omit<SlotRequest, "number" | "isResync">

/** Limits of a plan that apply to slots. */
type SlotLimits = Pick<PlanLimits, "runningJobsMax" | "slotsShareMax">

/**
 * State of an account's slot requests to one pool. Allocations from before a restart are unknown
 * until the first response of the pool.
 */
class PoolRequests {
  readonly pool: string
  /** Number of the last request; 0 before the first. */
  number = 0
  /**
   * Whether the pool may still allocate slots because of the last request. Another request must
   * then be sent to learn of these allocations.
   */
  isOpen = false
  /** Whether the pool has responded since this object started. */
  isKnown = false
  /**
   * Number of slots that the pool did not allocate for the last request, and the time of that
   * request. Null if the pool is expected to meet the next demand.
   */
  unmet: { wanted: number; since: number } | null = null
  hasFailed = false
  /** Ids of allocations that were assigned to a task. No allocation is assigned twice. */
  used = new Set<number>()
  isRequesting = false
  /** Whether `request` was called again while the present request is pending. */
  isStale = false

  constructor(pool: string) {
    this.pool = pool
  }
}

/**
 * Requests slots from the pools for the tasks of a queue. A slow pool does not delay the other
 * pools. Demand and allocations are kept in memory only. After a restart, the queue restores the
 * allocations of its tasks, and the first request to a pool frees all allocations that were not
 * restored.
 */
export class SlotRequests {
  readonly #env: Env
  readonly #queue: TaskQueue
  readonly #pools = new Map(Object.keys(POOLS).map((pool) => [pool, new PoolRequests(pool)]))
  #limits: { limits: SlotLimits; at: number } | null = null
  #planVersion = 0

  constructor(env: Env, queue: TaskQueue) {
    this.#env = env
    this.#queue = queue
    for (const { pool, allocation } of queue.underWay()) {
      if (allocation !== null) this.markUsed(pool, allocation)
    }
  }

  hasFailed(): boolean {
    return this.#pools.values().some(({ hasFailed }) => hasFailed)
  }

  hasUsed(): boolean {
    return this.#pools.values().some(({ used }) => used.size > 0)
  }

  /** Notes that an allocation was assigned to a task. */
  markUsed(pool: string, allocation: number): void {
    this.resync(pool)
    this.#pools.get(pool)?.used.add(allocation)
  }

  /**
   * Makes the next call of `request` ask a pool (without `pool`: every pool) which slots it has
   * allocated to the account. Does nothing for a pool that got a request since this object started.
   */
  resync(pool?: string): void {
    for (const requests of this.#some(pool)) requests.isOpen ||= requests.number === 0
  }

  /**
   * Forgets that a pool (without `pool`: every pool) could not meet the demand, so that the next
   * request is sent at once.
   */
  forgetUnmet(pool?: string): void {
    for (const requests of this.#some(pool)) requests.unmet = null
  }

  /** Drops the cached limits, so that the next request reads the plan from D1. */
  forgetPlan(): void {
    this.#limits = null
    this.#planVersion += 1
    this.forgetUnmet()
  }

  /**
   * Requests slots for ready tasks, and releases slots whose tasks are over. Saves each task that
   * got a slot, and calls `start` with the task. A call during a request to a pool repeats that
   * request afterwards.
   */
  async request(accountId: string, start: (task: QueuedTask) => void): Promise<void> {
    const requesting = this.#some().map(async (requests) => {
      requests.isStale = true
      if (requests.isRequesting) return
      requests.isRequesting = true
      try {
        while (requests.isStale) {
          requests.isStale = false
          for (const task of await this.#requestOnce(accountId, requests)) start(task)
        }
      } finally {
        requests.isRequesting = false
      }
    })
    await Promise.all(requesting)
  }

  /** Returns the request state of the pool with this name, or of all pools if no name is given. */
  #some(name?: string): PoolRequests[] {
    return [...this.#pools.values()].filter(({ pool }) => name === undefined || pool === name)
  }

  async #requestOnce(accountId: string, requests: PoolRequests): Promise<QueuedTask[]> {
    const demand = await this.#demandOf(accountId, requests)
    if (demand === null) return []
    const { wanted } = demand
    // Sets `unmet` before the request, because the pool may report free slots, and thereby clear
    // `unmet`, before its response is read.
    requests.unmet = { wanted, since: Date.now() }
    let started: QueuedTask[] = []
    try {
      started = await this.#allocate(requests, demand)
      requests.hasFailed = false
    } catch (error) {
      // Logs the error and continues, so that the other pools still get their requests.
      logError("dispatcher.pool_lost", { pool: requests.pool, error: String(error) })
      requests.hasFailed = true
    }
    if (started.length >= wanted) requests.unmet = null
    else if (requests.unmet) requests.unmet.wanted -= started.length
    return started
  }

  /** Returns the demand for slots of a pool. Returns null if a request would change nothing. */
  async #demandOf(accountId: string, requests: PoolRequests): Promise<SlotDemand | null> {
    const { pool } = requests
    const isIdle = !requests.isOpen && requests.used.size === 0
    if (isIdle && this.#queue.ready(1, Date.now(), pool).length === 0) return null
    const { runningJobsMax, slotsShareMax } = await this.#readLimits(accountId)
    const running = this.#queue.underWay().filter((task) => task.pool === pool)
    const inUse = running.flatMap(({ allocation }) => allocation ?? [])
    const released = [...requests.used.difference(new Set(inUse))]
    const room = Math.min(READY_MAX, Math.max(0, runningJobsMax - running.length))
    const now = Date.now()
    const wanted = this.#queue.ready(room, now, pool).length
    const { unmet } = requests
    const isUnmet =
      unmet !== null && Math.abs(now - unmet.since) < UNMET_MS && wanted >= unmet.wanted
    // The pool needs no request if no task waits for a slot, unless `isOpen` is true: the pool may
    // then still allocate slots for the last request.
    const isKnown = wanted === 0 && !requests.isOpen
    if (released.length === 0 && (isUnmet || isKnown)) return null
    return { accountId, wanted, slotsShareMax, inUse, released }
  }

  /** Requests slots of a pool, and assigns the slots to ready tasks. */
  async #allocate(requests: PoolRequests, demand: SlotDemand): Promise<QueuedTask[]> {
    const { pool } = requests
    requests.number = computeNextSlotRequestNumber(requests.number, Date.now())
    requests.isOpen = true
    const request = { ...demand, number: requests.number, isResync: !requests.isKnown }
    const allocations = await getPoolObject(this.#env, pool).requestSlots(pool, request)
    if (allocations === null) return []
    // Forgets used allocations that the pool's response no longer lists, because the pool has freed
    // them.
    requests.used = requests.used.intersection(new Set(allocations.map(({ id }) => id)))
    const offers = allocations.filter(({ id }) => !requests.used.has(id))
    const now = Date.now()
    const tasks = this.#queue.ready(offers.length, now, pool)
    // True if the pool offered all the slots that the account wants, and a task uses each slot.
    const isMet = offers.length >= demand.wanted && tasks.length === offers.length
    requests.isOpen = demand.wanted > 0 && !isMet
    requests.isKnown = true
    return tasks.flatMap((task, index) => {
      const offer = offers[index]
      if (!offer) return []
      requests.used.add(offer.id)
      const starting = copyTaskAsStarting(task, offer, now)
      this.#queue.save(starting)
      return [starting]
    })
  }

  /**
   * Returns the limits of the account's plan. Only the first call waits for D1. Later calls return
   * the cached limits, and read old limits again in the background. A change of the plan calls
   * `forgetPlan`.
   */
  async #readLimits(accountId: string): Promise<SlotLimits> {
    const read = this.#limits
    if (!read) return await this.#readNewLimits(accountId)
    const now = Date.now()
    if (Math.abs(now - read.at) >= FRESH_MS) {
      read.at = now
      void runOrLogError("dispatcher.plan_not_read", {}, () => this.#readNewLimits(accountId))
    }
    return read.limits
  }

  async #readNewLimits(accountId: string): Promise<SlotLimits> {
    const [version, at] = [this.#planVersion, Date.now()]
    const plan = await findAssignedPlan(openAccountDatabases(this.#env, accountId))
    // Reads the plan again if `forgetPlan` was called during the read, which may have returned the
    // old plan.
    if (version !== this.#planVersion) return await this.#readNewLimits(accountId)
    const limits = plan ? computeEffectiveLimits(plan, getSettings(this.#env)) : WITHOUT_ACCOUNT
    this.#limits = { limits, at }
    return limits
  }
}

const WITHOUT_ACCOUNT: SlotLimits = { runningJobsMax: 1, slotsShareMax: 0 }
