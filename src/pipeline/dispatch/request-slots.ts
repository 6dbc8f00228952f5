import { nextRequestNumber } from "../../contract/slot-allocation.ts"
import type { Env } from "../../env.ts"
import { logError } from "../../log.ts"
import { POOLS } from "../../runner/pools.ts"
import type { SlotRequest } from "../../rpc.ts"
import { poolObjectOf } from "../../placement.ts"
import type { TaskQueue } from "../../storage/task-queue.ts"
import type { QueuedTask } from "../../storage/queued-tasks.ts"
import { openPlanLimits } from "./plan-limits.ts"
import { startingTask } from "./queued-task.ts"
import { openRepeaters } from "./repeat.ts"

const READY_MAX = 100

/** A pool that owes slots says when it has them; until then a request changes nothing. */
const OWING_MS = 4_000

/**
 * Requests slots from the pools for the tasks of a queue. A pool that is slow, since it ends a
 * container first, holds up no other.
 */
export function openSlotRequests(env: Env, queue: TaskQueue) {
  /** When each pool that owes slots was asked. */
  const owing = new Map<string, number>()
  /** Pools that could not be asked the last time. */
  const failed = new Set<string>()
  /** Counts what was forgotten, since a pool may give what it owes before its answer was read. */
  let timesForgotten = 0
  /** Pools that know the account, though it is not known here what they gave it. */
  const anew = new Set<string>()
  const limits = openPlanLimits(env)
  const repeaterOf = openRepeaters()
  async function requestOnce(accountId: string, pool: string): Promise<QueuedTask[]> {
    const { runningJobsMax, slotsShareMax } = await limits.read(accountId)
    const now = Date.now()
    const askedAt = owing.get(pool)
    if (askedAt !== undefined && Math.abs(now - askedAt) < OWING_MS) return []
    owing.delete(pool)
    const held = queue.underWay().filter((task) => task.pool === pool)
    const room = Math.min(READY_MAX, Math.max(0, runningJobsMax - held.length))
    const wanted = queue.ready(room, now, pool).length
    const inUse = held.flatMap(({ allocation }) => allocation ?? [])
    const wish = { accountId, pool, wanted, slotsShareMax, inUse }
    const forgotten = timesForgotten
    const tasks = await tryRequest(env, queue, wish)
    if (tasks) failed.delete(pool)
    else failed.add(pool)
    const given = tasks ?? []
    if (given.length < wanted && forgotten === timesForgotten) owing.set(pool, Date.now())
    return given
  }
  return {
    hasFailed: () => failed.size > 0,
    /** Lets the next request go to a pool, or to all, though it owes slots. */
    forgetOwing(pool?: string): void {
      timesForgotten += 1
      if (pool === undefined) owing.clear()
      else owing.delete(pool)
    },
    /** Has a pool, or every one, asked, where it is not known what was requested of it before. */
    requestAnew(asked?: string): void {
      for (const pool of asked === undefined ? Object.keys(POOLS) : [asked]) {
        if (queue.lastRequest(pool) === null) anew.add(pool)
      }
    },
    /** Has the plan of the account read anew by the next request. */
    forgetPlan: () => limits.forget(),
    /**
     * Requests slots for ready tasks, and releases those whose task is over; calls `start` with each
     * task that got one, saved so. A call during a request to a pool has that one made again.
     */
    async request(accountId: string, start: (task: QueuedTask) => void): Promise<void> {
      const pools = [...new Set([...queue.pools(), ...anew])]
      anew.clear()
      const asked = pools.map(async (pool) => {
        await repeaterOf(pool)(async () => (await requestOnce(accountId, pool)).forEach(start))
      })
      await Promise.all(asked)
    },
  }
}

type Wish = { pool: string } & Omit<SlotRequest, "number" | "released">

/** A pool that cannot be asked (null) must not hold up what the others gave. */
async function tryRequest(env: Env, queue: TaskQueue, wish: Wish): Promise<QueuedTask[] | null> {
  try {
    return await requestFrom(env, queue, wish)
  } catch (error) {
    logError("dispatcher.pool_lost", { pool: wish.pool, error: String(error) })
    return null
  }
}

async function requestFrom(
  env: Env,
  queue: TaskQueue,
  { pool, ...wish }: Wish,
): Promise<QueuedTask[]> {
  const { wanted, inUse } = wish
  const released = queue.usedAllocations(pool).filter((id) => !inUse.includes(id))
  // The pool goes on allocating what was requested last, also where it is no longer wanted.
  const last = queue.lastRequest(pool)
  if (wanted === 0 && released.length === 0 && last?.isOpen === false) return []
  const number = nextRequestNumber(last?.number ?? 0, Date.now())
  const isKnown = last?.isKnown ?? false
  queue.saveRequest(pool, { number, isOpen: true, isKnown })
  const request = { ...wish, number, released, isAnew: !isKnown }
  const allocations = await poolObjectOf(env, pool).requestSlots(pool, request)
  if (allocations === null) return []
  const ids = allocations.map(({ id }) => id)
  queue.keepUsed(pool, ids)
  const used = new Set(queue.usedAllocations(pool))
  const offers = allocations.filter(({ id }) => !used.has(id))
  const now = Date.now()
  const tasks = queue.ready(offers.length, now, pool)
  // It has nothing more to allocate, and allocated nothing in vain.
  const isMet = offers.length >= wanted && tasks.length === offers.length
  queue.saveRequest(pool, { number, isOpen: wanted > 0 && !isMet, isKnown: true })
  return tasks.flatMap((task, index) => {
    const offer = offers[index]
    if (!offer) return []
    queue.markUsed(pool, offer.id)
    const starting = startingTask(task, offer, now)
    queue.save(starting)
    return [starting]
  })
}
