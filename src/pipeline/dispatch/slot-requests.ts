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

/** A pool with unmet demand says when it has slots; until then a request changes nothing. */
const UNMET_MS = 4_000

/** A limit that was read so long ago is read again beside whatever asks for it. */
const FRESH_MS = 1_000

/** Number of slots that an account wants of a pool, and the allocations that its tasks use. */
type SlotDemand = Omit<SlotRequest, "number" | "released" | "isResync">

/** State of the requests to one pool; until its first answer the pool may have given anything before. */
type PoolRequests = {
  /** Number of the last request; 0 before the first. */
  number: number
  /** Whether the pool may still allocate for the last request. */
  isOpen: boolean
  /** Whether the pool has answered a request since this object came up. */
  isKnown: boolean
  /** When a request was made that was not met; null where the next one may be. */
  unmetSince: number | null
  /** Whether the last request failed. */
  hasFailed: boolean
  /** Allocations that had their task; none is used for a second one. */
  used: Set<number>
  isRequesting: boolean
  /** Whether a call came since the request began that is under way. */
  isStale: boolean
}

/**
 * Requests slots from the pools for the tasks of a queue. A pool that is slow holds up no other. All
 * is in memory alone: where that is lost, the first request to a pool takes back all allocations that
 * no task has, and tasks tell which allocations they have.
 */
export class SlotRequests {
  readonly #env: Env
  readonly #queue: TaskQueue
  readonly #limits: PlanLimits
  readonly #pools = new Map<string, PoolRequests>()

  constructor(env: Env, queue: TaskQueue) {
    this.#env = env
    this.#queue = queue
    this.#limits = new PlanLimits(env)
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
    this.#requestsTo(pool).used.add(allocation)
  }

  /** Lets the next request go to a pool, or to all, though the demand is unmet. */
  forgetUnmet(pool?: string): void {
    for (const [name, requests] of this.#pools) {
      if (pool === undefined || name === pool) requests.unmetSince = null
    }
  }

  /** Has a pool, or every one, asked where this object has not asked it since it came up. */
  resync(pool?: string): void {
    for (const each of pool === undefined ? Object.keys(POOLS) : [pool]) this.#requestsTo(each)
  }

  /** Has the plan of the account read anew by the next request. */
  forgetPlan(): void {
    this.#limits.forget()
  }

  /**
   * Requests slots for ready tasks, and releases those whose task is over; calls `start` with each
   * task that got one, saved so. A call during a request to a pool has that one made again.
   */
  async request(accountId: string, start: (task: QueuedTask) => void): Promise<void> {
    const asked = this.#poolsToAsk().map(async (pool) => {
      const requests = this.#requestsTo(pool)
      requests.isStale = true
      if (requests.isRequesting) return
      requests.isRequesting = true
      try {
        while (requests.isStale) {
          requests.isStale = false
          for (const task of await this.#requestOnce(accountId, pool, requests)) start(task)
        }
      } finally {
        requests.isRequesting = false
      }
    })
    await Promise.all(asked)
  }

  /** Pools that have a ready task, a used slot or an open request. */
  #poolsToAsk(): string[] {
    const known = [...this.#pools].filter(([, { isOpen, used }]) => isOpen || used.size > 0)
    return [...new Set([...this.#queue.readyPools(), ...known.map(([pool]) => pool)])]
  }

  async #requestOnce(
    accountId: string,
    pool: string,
    requests: PoolRequests,
  ): Promise<QueuedTask[]> {
    const { runningJobsMax, slotsShareMax } = await this.#limits.read(accountId)
    const now = Date.now()
    const { unmetSince } = requests
    if (unmetSince !== null && Math.abs(now - unmetSince) < UNMET_MS) return []
    const held = this.#queue.underWay().filter((task) => task.pool === pool)
    const room = Math.min(READY_MAX, Math.max(0, runningJobsMax - held.length))
    const wanted = this.#queue.ready(room, now, pool).length
    const inUse = held.flatMap(({ allocation }) => allocation ?? [])
    // Set before the request: a pool may give what is unmet before its answer was read.
    requests.unmetSince = now
    let started: QueuedTask[] = []
    try {
      started = await this.#allocate(pool, requests, { accountId, wanted, slotsShareMax, inUse })
      requests.hasFailed = false
    } catch (error) {
      // A pool that cannot be asked must not hold up what the others gave.
      logError("dispatcher.pool_lost", { pool, error: String(error) })
      requests.hasFailed = true
    }
    if (started.length >= wanted) requests.unmetSince = null
    return started
  }

  /** Has a pool allocate slots, and tasks start with them. */
  async #allocate(pool: string, requests: PoolRequests, demand: SlotDemand): Promise<QueuedTask[]> {
    const { wanted, inUse } = demand
    const released = [...requests.used.difference(new Set(inUse))]
    // The pool goes on allocating what was requested last, also where it is no longer wanted.
    if (wanted === 0 && released.length === 0 && !requests.isOpen) return []
    requests.number = nextRequestNumber(requests.number, Date.now())
    requests.isOpen = true
    const request = { ...demand, number: requests.number, released, isResync: !requests.isKnown }
    const allocations = await poolObjectOf(this.#env, pool).requestSlots(pool, request)
    if (allocations === null) return []
    // Used allocations that the pool does not know any more were freed.
    requests.used = requests.used.intersection(new Set(allocations.map(({ id }) => id)))
    const offers = allocations.filter(({ id }) => !requests.used.has(id))
    const now = Date.now()
    const tasks = this.#queue.ready(offers.length, now, pool)
    // The pool has nothing more to allocate, and allocated nothing in vain.
    const isMet = offers.length >= wanted && tasks.length === offers.length
    requests.isOpen = wanted > 0 && !isMet
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

  #requestsTo(pool: string): PoolRequests {
    const known = this.#pools.get(pool) ?? { ...UNASKED, used: new Set<number>() }
    this.#pools.set(pool, known)
    return known
  }
}

const UNASKED: Omit<PoolRequests, "used"> = {
  number: 0,
  isOpen: true,
  isKnown: false,
  unmetSince: null,
  hasFailed: false,
  isRequesting: false,
  isStale: false,
}

/** Limits of a plan that concern slots. */
type SlotLimits = Pick<Limits, "runningJobsMax" | "slotsShareMax">

const WITHOUT_ACCOUNT: SlotLimits = { runningJobsMax: 1, slotsShareMax: 0 }

/**
 * Number of slots that an account may want and hold. Only the first request waits for D1: whoever
 * changes a plan says so, and a limit that grew old is read again in the background.
 */
class PlanLimits {
  readonly #env: Env
  #known: { limits: SlotLimits; since: number } | null = null
  #timesForgotten = 0
  #isReading = false

  constructor(env: Env) {
    this.#env = env
  }

  forget(): void {
    this.#known = null
    this.#timesForgotten += 1
  }

  async read(accountId: string): Promise<SlotLimits> {
    if (!this.#known) return await this.#readNew(accountId)
    if (Math.abs(Date.now() - this.#known.since) >= FRESH_MS) void this.#readAgain(accountId)
    return this.#known.limits
  }

  /** An answer that was under way while the plan was forgotten may be the old one. */
  async #readNew(accountId: string): Promise<SlotLimits> {
    for (;;) {
      const [since, forgotten] = [Date.now(), this.#timesForgotten]
      const plan = await findPlan(databaseOf(this.#env, accountId))
      if (forgotten !== this.#timesForgotten) continue
      const limits = plan ? limitsOf(plan, settingsOf(this.#env)) : WITHOUT_ACCOUNT
      this.#known = { limits, since }
      return limits
    }
  }

  async #readAgain(accountId: string): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    await doOrLog("dispatcher.plan_not_read", {}, async () => await this.#readNew(accountId))
    this.#isReading = false
  }
}
