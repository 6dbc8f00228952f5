import { nextRequestNumber } from "../../contract/slot-allocation.ts"
import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import { doOrLog, logError } from "../../log.ts"
import { poolObjectOf } from "../../placement.ts"
import type { Limits } from "../../plans.ts"
import type { SlotRequest } from "../../rpc.ts"
import { POOLS } from "../../runner/pools.ts"
import { databaseOf } from "../../storage/database.ts"
import { findPlan } from "../../storage/tasks.ts"
import type { TaskQueue } from "./queue.ts"
import { startingTask } from "./queued-task.ts"
import type { QueuedTask } from "./queued-task.ts"

const READY_MAX = 100

/** A pool with unmet demand says when it has slots; until then the same request changes nothing. */
const UNMET_MS = 4_000

/** A limit that was read so long ago is read again beside whatever asks for it. */
const FRESH_MS = 1_000

/** Demand of an account for slots of a pool, and the allocations whose tasks are under way, or over. */
type SlotDemand = Omit<SlotRequest, "number" | "isResync">

/** Limits of a plan that concern slots. */
type SlotLimits = Pick<Limits, "runningJobsMax" | "slotsShareMax">

/** Requests to one pool; what it gave before its first answer to this object is not known. */
class PoolRequests {
  readonly pool: string
  /** Number of the last request; 0 before the first. */
  number = 0
  /** Whether the pool may still allocate for the last request, or has to be asked what it gave. */
  isOpen = false
  /** Whether the pool has answered a request since this object came up. */
  isKnown = false
  /** The last demand that was not met, and since when; null where the next request may be met. */
  unmet: { wanted: number; since: number } | null = null
  hasFailed = false
  /** Allocations that had their task; none is used for a second one. */
  used = new Set<number>()
  isRequesting = false
  /** Whether a call came since the request began that is under way. */
  isStale = false

  constructor(pool: string) {
    this.pool = pool
  }
}

/**
 * Requests slots from the pools for the tasks of a queue. A pool that is slow holds up no other. All
 * is in memory alone: where that is lost, the first request to a pool takes back all allocations that
 * no task has, and tasks tell which allocations they have.
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

  /** Notes that an allocation has its task. */
  markUsed(pool: string, allocation: number): void {
    this.resync(pool)
    this.#pools.get(pool)?.used.add(allocation)
  }

  /** Has a pool, or every one, asked where this object has not asked it since it came up. */
  resync(pool?: string): void {
    for (const requests of this.#some(pool)) requests.isOpen ||= requests.number === 0
  }

  /** A pool, or every one, may have slots again for a demand that was unmet. */
  forgetUnmet(pool?: string): void {
    for (const requests of this.#some(pool)) requests.unmet = null
  }

  /** Has the plan of the account read anew by the next request. */
  forgetPlan(): void {
    this.#limits = null
    this.#planVersion += 1
    this.forgetUnmet()
  }

  /**
   * Requests slots for ready tasks, and releases those whose task is over; calls `start` with each
   * task that got one, saved so. A call during a request to a pool has that one made again.
   */
  async request(accountId: string, start: (task: QueuedTask) => void): Promise<void> {
    const asked = this.#some().map(async (requests) => {
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
    await Promise.all(asked)
  }

  /** Pools of a name, or all. */
  #some(name?: string): PoolRequests[] {
    return [...this.#pools.values()].filter(({ pool }) => name === undefined || pool === name)
  }

  async #requestOnce(accountId: string, requests: PoolRequests): Promise<QueuedTask[]> {
    const demand = await this.#demandOf(accountId, requests)
    if (demand === null) return []
    const { wanted } = demand
    // Set before the request: a pool may have slots for it again before its answer was read.
    requests.unmet = { wanted, since: Date.now() }
    let started: QueuedTask[] = []
    try {
      started = await this.#allocate(requests, demand)
      requests.hasFailed = false
    } catch (error) {
      // A pool that cannot be asked must not hold up what the others gave.
      logError("dispatcher.pool_lost", { pool: requests.pool, error: String(error) })
      requests.hasFailed = true
    }
    if (started.length >= wanted) requests.unmet = null
    else if (requests.unmet) requests.unmet.wanted -= started.length
    return started
  }

  /** The demand for slots of a pool; null where a request changes nothing. */
  async #demandOf(accountId: string, requests: PoolRequests): Promise<SlotDemand | null> {
    const { pool } = requests
    const isIdle = !requests.isOpen && requests.used.size === 0
    if (isIdle && this.#queue.ready(1, Date.now(), pool).length === 0) return null
    const { runningJobsMax, slotsShareMax } = await this.#readLimits(accountId)
    const held = this.#queue.underWay().filter((task) => task.pool === pool)
    const inUse = held.flatMap(({ allocation }) => allocation ?? [])
    const released = [...requests.used.difference(new Set(inUse))]
    const room = Math.min(READY_MAX, Math.max(0, runningJobsMax - held.length))
    const now = Date.now()
    const wanted = this.#queue.ready(room, now, pool).length
    const { unmet } = requests
    const isUnmet =
      unmet !== null && Math.abs(now - unmet.since) < UNMET_MS && wanted >= unmet.wanted
    // The pool goes on allocating what was requested last, also where it is no longer wanted.
    const isKnown = wanted === 0 && !requests.isOpen
    if (released.length === 0 && (isUnmet || isKnown)) return null
    return { accountId, wanted, slotsShareMax, inUse, released }
  }

  /** Has a pool allocate slots, and tasks start with them. */
  async #allocate(requests: PoolRequests, demand: SlotDemand): Promise<QueuedTask[]> {
    const { pool } = requests
    requests.number = nextRequestNumber(requests.number, Date.now())
    requests.isOpen = true
    const request = { ...demand, number: requests.number, isResync: !requests.isKnown }
    const allocations = await poolObjectOf(this.#env, pool).requestSlots(pool, request)
    if (allocations === null) return []
    // Used allocations that the pool does not know any more were freed.
    requests.used = requests.used.intersection(new Set(allocations.map(({ id }) => id)))
    const offers = allocations.filter(({ id }) => !requests.used.has(id))
    const now = Date.now()
    const tasks = this.#queue.ready(offers.length, now, pool)
    // The pool has nothing more to allocate, and allocated nothing in vain.
    const isMet = offers.length >= demand.wanted && tasks.length === offers.length
    requests.isOpen = demand.wanted > 0 && !isMet
    requests.isKnown = true
    return tasks.flatMap((task, index) => {
      const offer = offers[index]
      if (!offer) return []
      requests.used.add(offer.id)
      const starting = startingTask(task, offer, now)
      this.#queue.save(starting)
      return [starting]
    })
  }

  /**
   * Limits of the plan. Only the first request waits for D1: whoever changes a plan says so, and limits
   * that grew old are read again in the background.
   */
  async #readLimits(accountId: string): Promise<SlotLimits> {
    const read = this.#limits
    if (!read) return await this.#readNewLimits(accountId)
    const now = Date.now()
    if (Math.abs(now - read.at) >= FRESH_MS) {
      read.at = now
      void doOrLog("dispatcher.plan_not_read", {}, () => this.#readNewLimits(accountId))
    }
    return read.limits
  }

  async #readNewLimits(accountId: string): Promise<SlotLimits> {
    const [version, at] = [this.#planVersion, Date.now()]
    const plan = await findPlan(databaseOf(this.#env, accountId))
    // An answer that was under way while the plan was forgotten may be the old one.
    if (version !== this.#planVersion) return await this.#readNewLimits(accountId)
    const limits = plan ? limitsOf(plan, settingsOf(this.#env)) : WITHOUT_ACCOUNT
    this.#limits = { limits, at }
    return limits
  }
}

const WITHOUT_ACCOUNT: SlotLimits = { runningJobsMax: 1, slotsShareMax: 0 }
