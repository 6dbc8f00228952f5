import { DurableObject } from "cloudflare:workers"
import { isStaleSlotRequest, isPlausibleAllocationNumber } from "../contract/slot-allocation.ts"
import { getSettings } from "../bindings/env.ts"
import { computeEffectiveLimits } from "../bindings/plan-limits.ts"
import type { Env } from "../bindings/env.ts"
import type { DegradedReason } from "../contract/runner-health.ts"
import { runOrLogError, logError } from "../platform/log.ts"
import type {
  SlotDegradedReport,
  PoolRpc,
  SlotAllocation,
  SlotRequest,
  DatabaseSweep,
} from "../bindings/rpc.ts"
import { getDispatcher } from "../bindings/durable-objects.ts"
import { stopSlotContainer } from "../runner/client.ts"
import { getPoolNameOfSlot, listSlotNames } from "../bindings/pools.ts"
import { sweepDatabase } from "../upkeep/sweep-database.ts"
import { findSlotHandOver, decideSlotGrants } from "./fair-share.ts"
import type { SlotHandOver, PoolState } from "./fair-share.ts"
import { SlotRequesters } from "./requesters.ts"
import { PoolSlots } from "./slots.ts"

/**
 * Time without a request after which the pool calls the dispatcher of an account that wants a slot,
 * in milliseconds.
 */
const WAKE_MS = 15_000
/**
 * Time without a request after which the pool calls the dispatcher of an account that only holds
 * slots, in milliseconds. The sweep, which finds lost work of a dispatcher, has the same interval.
 */
const WAKE_HOLDER_MS = 60_000
/**
 * Time without a request after which the pool forgets an account that neither wants nor holds a
 * slot, in milliseconds.
 */
const FORGET_MS = 3_600_000

/** Durable Object that owns the slots of one pool of runners and shares them between accounts. */
export class Pool extends DurableObject<Env> implements PoolRpc {
  readonly #slots = new PoolSlots(this.ctx.storage.sql)
  readonly #requesters = new SlotRequesters(this.ctx.storage.sql, this.#slots.lastTurns())
  /**
   * Free slots whose containers are being stopped, each with the account that gets the slot
   * afterwards. The account is null if no account gets the slot.
   */
  readonly #ending = new Map<string, string | null>()
  /**
   * Ids of allocations whose run the account's dispatcher refused to interrupt for another account.
   * If this set is lost, the dispatcher refuses again.
   */
  #kept = new Set<number>()

  async requestSlots(
    pool: string,
    request: SlotRequest,
  ): Promise<Pick<SlotAllocation, "id" | "slot">[] | null> {
    const now = Date.now()
    const { accountId, number } = request
    const earlier = this.#requesters.find(accountId)
    if (earlier && isStaleSlotRequest({ number, known: earlier.number, now })) return null
    const idle = this.#freeSurplus(request)
    this.#requesters.save({
      accountId,
      number,
      wanted: Math.max(0, request.wanted - idle),
      // Corrects a time in the future, which was stored before the clock was set back.
      waitingSince: earlier && earlier.wanted > 0 ? Math.min(earlier.waitingSince, now) : now,
      slotsShareMax: request.slotsShareMax ?? 1,
      heardAt: now,
      // Among accounts with equally many slots, the lowest `turn`, which is the number of the last
      // allocation, comes first. Drops a turn from a clock that ran ahead, because the time in that
      // number would delay the account.
      turn: earlier && isPlausibleAllocationNumber(earlier.turn, now) ? earlier.turn : 0,
    })
    this.#share(pool, accountId)
    await this.#arm(pool)
    return this.#slots.of(accountId)
  }

  async runnerStarted(boot: string): Promise<void> {
    const calls = [...this.#slots.holders()].map((accountId) =>
      getDispatcher(this.env, accountId).runsLost(accountId, { boot }),
    )
    await Promise.allSettled(calls)
  }

  async slotStopped({ slot, boot }: { slot: string; boot: string }): Promise<void> {
    const { accountId, isAllocated } = this.#slots.find(slot) ?? {}
    if (accountId === undefined || !isAllocated) return
    await getDispatcher(this.env, accountId).runsLost(accountId, { stopped: boot })
  }

  async slotDistrusted({ slot, allocation }: { slot: string; allocation: number }): Promise<void> {
    // Ignores a call about an earlier allocation of the slot, because the later allocation already
    // has another container.
    if (this.#slots.find(slot)?.allocation !== allocation) return
    this.#slots.saveToEnd(slot)
    await this.#arm(getPoolNameOfSlot(slot))
  }

  async problemJudged({ slot, problem, isThere }: SlotDegradedReport): Promise<void> {
    if (isThere) this.#slots.saveProblem(slot, problem, Date.now())
    else this.#slots.clearProblem(slot, problem)
  }

  async usage(pool: string): Promise<{ slots: number; used: number; waitingAccounts: number }> {
    return {
      slots: listSlotNames(pool, getSettings(this.env)).length,
      used: this.#slots.allocations().length,
      waitingAccounts: this.#requesters.waiting().length,
    }
  }

  async occupiedSlots(): Promise<string[]> {
    return this.#slots.occupied()
  }

  async degradedReasons(): Promise<DegradedReason[]> {
    const isAnyNotEnded = [...this.#slots.toEnd().values()].includes(true)
    const notEnded = isAnyNotEnded ? (["slot_not_ended"] as const) : []
    return [...this.#slots.problems(Date.now()), ...notEnded]
  }

  async sweepDatabase(swept: DatabaseSweep): Promise<void> {
    await sweepDatabase(this.env, swept)
  }

  override async alarm(): Promise<void> {
    const [slotName] = this.#slots.names()
    if (slotName === undefined) return
    const pool = getPoolNameOfSlot(slotName)
    await this.#arm(pool)
    for (const slot of this.#slots.toEnd().keys()) {
      if (this.#isFree(slot)) this.#end(pool, slot, null)
    }
    const now = Date.now()
    for (const accountId of this.#silent(now)) this.#wake(accountId, pool)
    this.#requesters.forget(now - FORGET_MS, this.#slots.holders())
    await this.#handOver(pool)
  }

  /**
   * Frees slots that the account released or no longer needs. Returns the number of slots that the
   * account keeps for ready tasks.
   */
  #freeSurplus({ accountId, released, inUse, wanted, isResync }: SlotRequest): number {
    const freed = new Set(released)
    const usedIds = new Set(inUse)
    const ids = this.#slots.of(accountId).map(({ id }) => id)
    const idle = ids.filter((id) => !freed.has(id) && !usedIds.has(id))
    const keptMax = isResync ? 0 : wanted
    this.#slots.free([...released, ...idle.slice(keptMax)], accountId)
    return Math.min(idle.length, keptMax)
  }

  /**
   * Allocates free slots by fair share, and calls the dispatchers of the accounts that got a slot.
   * Does not call the dispatcher of `asker`, whose pending request returns the slots. Before a slot
   * changes accounts, stops its container in the background.
   */
  #share(pool: string, asker: string | null): void {
    const first = this.#nextNumber()
    const served = new Set<string>()
    const shares = decideSlotGrants(this.#state(pool), first)
    for (const [index, { slot, accountId, lastHolder }] of shares.entries()) {
      if (lastHolder !== null && lastHolder !== accountId) this.#slots.saveToEnd(slot)
      if (this.#slots.toEnd().has(slot)) this.#end(pool, slot, accountId)
      else {
        this.#allocate({ id: first + index, slot, accountId })
        served.add(accountId)
      }
    }
    this.#requesters.flush()
    for (const accountId of served) if (accountId !== asker) this.#wake(accountId, pool)
  }

  #allocate(allocation: SlotAllocation): void {
    const requester = this.#requesters.find(allocation.accountId)
    if (!requester) return
    this.#slots.allocate(allocation)
    const wanted = requester.wanted - 1
    this.#requesters.save({ ...requester, wanted, waitingSince: Date.now(), turn: allocation.id })
  }

  /**
   * Stops the container of a free slot, then allocates the slot again. If the stop fails, no
   * account gets the slot until an alarm has stopped its container.
   */
  #end(pool: string, slot: string, accountId: string | null): void {
    const number = this.#nextNumber()
    this.#slots.saveNumber(slot, number)
    this.#ending.set(slot, accountId)
    const stop = stopSlotContainer(this.env, slot, number).then(async (isEnded) => {
      this.#ending.delete(slot)
      if (isEnded) this.#slots.saveEnded(slot)
      else this.#slots.saveEndFailed(slot, Date.now())
      this.#share(pool, null)
      await this.#arm(pool)
    })
    this.ctx.waitUntil(runOrLogError("pool.end_failed", { slot }, () => stop))
  }

  /**
   * Returns the state from which `decideSlotGrants` decides, without slots whose containers could
   * not be stopped. Slots of a plain runner have no last holder (the account whose container still
   * runs in the slot), because they keep no data of an account.
   */
  #state(pool: string): PoolState {
    const settings = getSettings(this.env)
    const toEnd = this.#slots.toEnd()
    const names = listSlotNames(pool, settings).filter((name) => toEnd.get(name) !== true)
    const isPlain = settings.RUNNER_ORIGIN !== undefined
    const free = names
      .filter((name) => this.#isFree(name))
      .map((name) => {
        const lastHolder = isPlain ? null : this.#slots.find(name)?.accountId
        return { name, lastHolder: lastHolder || null }
      })
    // Counts a slot whose container is being stopped as held by the account that gets the slot
    // afterwards.
    const promised = [...this.#ending].flatMap(([slot, accountId]) =>
      accountId === null ? [] : [{ id: 0, slot, accountId }],
    )
    const coming = Map.groupBy(promised, ({ accountId }) => accountId)
    const waiting = this.#requesters.waiting().map((requester) => {
      const wanted = requester.wanted - (coming.get(requester.accountId)?.length ?? 0)
      return { ...requester, wanted }
    })
    const allocations = [...this.#slots.allocations(), ...promised]
    return { slotCount: names.length, free, allocations, waiting, now: Date.now() }
  }

  /** Interrupts a run if its account has held every slot of the pool for too long. */
  async #handOver(pool: string): Promise<void> {
    for (let due = this.#nextHandOver(pool); due; due = this.#nextHandOver(pool)) {
      const { allocation, at } = due
      if (at > Date.now()) return
      try {
        const dispatcher = getDispatcher(this.env, allocation.accountId)
        if (await dispatcher.handOver(allocation.accountId, allocation)) return
      } catch (error) {
        logError("pool.hand_over_failed", { error: String(error) })
        return
      }
      const allocationIds = new Set(this.#slots.allocations().map(({ id }) => id))
      this.#kept = this.#kept.intersection(allocationIds).add(allocation.id)
    }
  }

  #nextHandOver(pool: string): SlotHandOver | null {
    if (!this.#requesters.isAnyWaiting() || this.#slots.holders().size !== 1) return null
    const waitMsMax =
      computeEffectiveLimits({ plan: "trial", ownLimits: null }, getSettings(this.env))
        .runSecondsMax * 1000
    return findSlotHandOver(this.#state(pool), { waitMsMax, kept: this.#kept })
  }

  /** Returns the accounts that want or hold a slot and have sent no request recently. */
  #silent(now: number): string[] {
    const waiting = new Set(this.#requesters.waiting().map(({ accountId }) => accountId))
    return [...waiting.union(this.#slots.holders())].filter((accountId) => {
      const heardAt = this.#requesters.find(accountId)?.heardAt ?? 0
      const sinceMs = now - heardAt
      // A negative difference comes from a time that was stored before the clock was set back. Such
      // an account counts as silent.
      return sinceMs < 0 || sinceMs > (waiting.has(accountId) ? WAKE_MS : WAKE_HOLDER_MS)
    })
  }

  #isFree(slot: string): boolean {
    return this.#slots.isFree(slot) && !this.#ending.has(slot)
  }

  /**
   * Returns an allocation number above all earlier numbers. The number is at least the present time
   * in milliseconds, so that it exceeds the numbers that runners remember even if this object has
   * forgotten them.
   */
  #nextNumber(): number {
    const now = Date.now()
    return Math.max(this.#slots.lastAllocation(now) + 1, now)
  }

  #wake(accountId: string, pool: string): void {
    const woken = getDispatcher(this.env, accountId).wake(accountId, pool)
    this.ctx.waitUntil(Promise.resolve(woken).catch(() => undefined))
  }

  async #arm(pool: string): Promise<void> {
    const isUrgent = this.#requesters.isAnyWaiting() || this.#slots.toEnd().size > 0
    if (!isUrgent && this.#slots.holders().size === 0) return
    const now = Date.now()
    const lookAt = now + (isUrgent ? WAKE_MS : WAKE_HOLDER_MS)
    const handOverAt = this.#nextHandOver(pool)?.at ?? Infinity
    // If it is already time to interrupt a run for another account, an earlier alarm has requested
    // this. The alarm at the usual interval repeats the request.
    const at = handOverAt > now ? Math.min(lookAt, handOverAt) : lookAt
    const armedFor = await this.ctx.storage.getAlarm()
    // Replaces a later alarm, which may also come from a clock that ran ahead.
    if (armedFor === null || armedFor > at) await this.ctx.storage.setAlarm(at)
  }
}
