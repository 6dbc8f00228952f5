import { DurableObject } from "cloudflare:workers"
import { isLateRequest, isPlausibleAllocation } from "../../contract/slot-allocation.ts"
import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import { doOrLog, logError } from "../../log.ts"
import type {
  JudgedProblem,
  PoolRpc,
  SlotAllocation,
  SlotRequest,
  SweptDatabase,
} from "../../rpc.ts"
import { dispatcherOf } from "../../placement.ts"
import { destroySlot } from "../../runner/client.ts"
import { poolNameOfSlot, slotNames } from "../../runner/pools.ts"
import { sweepDatabase } from "../upkeep/sweep-database.ts"
import { findHandOver, shareSlots } from "./fair-share.ts"
import type { HandOver, PoolState } from "./fair-share.ts"
import { Requesters } from "./requesters.ts"
import { Slots } from "./slots.ts"

/** An account that wants a slot and says nothing for so long is woken. */
const WAKE_MS = 15_000
/** So is one that only holds some: the sweep would find what its dispatcher lost in the same time. */
const WAKE_HOLDER_MS = 60_000
/** Accounts that want and hold nothing are forgotten after so long. */
const FORGET_MS = 3_600_000

/** Owns the slots of one pool of runners and shares them between accounts. */
export class Pool extends DurableObject<Env> implements PoolRpc {
  readonly #slots = new Slots(this.ctx.storage.sql)
  readonly #requesters = new Requesters(this.ctx.storage.sql, this.#slots.lastTurns())
  /** Free slots whose containers are being ended, and for whom: they are as good as allocated to these. */
  readonly #ending = new Map<string, string | null>()
  /** Allocations whose run was handed over before; their dispatchers say so again where it is lost. */
  #kept = new Set<number>()

  async requestSlots(
    pool: string,
    request: SlotRequest,
  ): Promise<Pick<SlotAllocation, "id" | "slot">[] | null> {
    const now = Date.now()
    const { accountId, number } = request
    const known = this.#requesters.find(accountId)
    if (known && isLateRequest({ number, known: known.number, now })) return null
    const idle = this.#freeSurplus(request)
    this.#requesters.save({
      accountId,
      number,
      wanted: Math.max(0, request.wanted - idle),
      // A moment ahead was told by a clock that has been put right.
      waitingSince: known && known.wanted > 0 ? Math.min(known.waitingSince, now) : now,
      slotsShareMax: request.slotsShareMax ?? 1,
      heardAt: now,
      // Turns are allocation numbers; one that a wrong clock made must not keep the account waiting.
      turn: known && isPlausibleAllocation(known.turn, now) ? known.turn : 0,
    })
    this.#share(pool, accountId)
    await this.#arm(pool)
    return this.#slots.of(accountId)
  }

  async runnerStarted(boot: string): Promise<void> {
    const told = [...this.#slots.holders()].map((accountId) =>
      dispatcherOf(this.env, accountId).runsLost(accountId, { boot }),
    )
    await Promise.allSettled(told)
  }

  async slotStopped({ slot, boot }: { slot: string; boot: string }): Promise<void> {
    const { accountId, isAllocated } = this.#slots.find(slot) ?? {}
    if (accountId === undefined || !isAllocated) return
    await dispatcherOf(this.env, accountId).runsLost(accountId, { stopped: boot })
  }

  async slotDistrusted({ slot, allocation }: { slot: string; allocation: number }): Promise<void> {
    // A later allocation got another container already.
    if (this.#slots.find(slot)?.allocation !== allocation) return
    this.#slots.saveToEnd(slot)
    await this.#arm(poolNameOfSlot(slot))
  }

  async problemJudged({ slot, problem, isThere }: JudgedProblem): Promise<void> {
    if (isThere) this.#slots.saveProblem(slot, problem, Date.now())
    else this.#slots.clearProblem(slot, problem)
  }

  async usage(pool: string): Promise<{ slots: number; used: number; waitingAccounts: number }> {
    return {
      slots: slotNames(pool, settingsOf(this.env)).length,
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

  async sweepDatabase(swept: SweptDatabase): Promise<void> {
    await sweepDatabase(this.env, swept)
  }

  override async alarm(): Promise<void> {
    const [known] = this.#slots.names()
    if (known === undefined) return
    const pool = poolNameOfSlot(known)
    await this.#arm(pool)
    for (const slot of this.#slots.toEnd().keys()) {
      if (this.#isFree(slot)) this.#end(pool, slot, null)
    }
    const now = Date.now()
    for (const accountId of this.#silent(now)) this.#wake(accountId, pool)
    this.#requesters.forget(now - FORGET_MS, this.#slots.holders())
    await this.#handOver(pool)
  }

  /** Frees what the account released or no longer needs; answers how many idle slots it keeps. */
  #freeSurplus({ accountId, released, inUse, wanted, isResync }: SlotRequest): number {
    const freed = new Set(released)
    const used = new Set(inUse)
    const ids = this.#slots.of(accountId).map(({ id }) => id)
    const idle = ids.filter((id) => !freed.has(id) && !used.has(id))
    const keptMax = isResync ? 0 : wanted
    this.#slots.free([...released, ...idle.slice(keptMax)], accountId)
    return Math.min(idle.length, keptMax)
  }

  /**
   * Allocates free slots to whose turn it is, and wakes those who got one, but `asker`, who is answered.
   * Containers of other accounts are ended first, all at once and while nobody waits for them.
   */
  #share(pool: string, asker: string | null): void {
    const first = this.#nextNumber()
    const got = new Set<string>()
    const shares = shareSlots(this.#state(pool), first)
    for (const [index, { slot, accountId, lastHolder }] of shares.entries()) {
      if (lastHolder !== null && lastHolder !== accountId) this.#slots.saveToEnd(slot)
      if (this.#slots.toEnd().has(slot)) this.#end(pool, slot, accountId)
      else {
        this.#allocate({ id: first + index, slot, accountId })
        got.add(accountId)
      }
    }
    this.#requesters.flush()
    for (const accountId of got) if (accountId !== asker) this.#wake(accountId, pool)
  }

  #allocate(made: SlotAllocation): void {
    const requester = this.#requesters.find(made.accountId)
    if (!requester) return
    this.#slots.allocate(made)
    const wanted = requester.wanted - 1
    this.#requesters.save({ ...requester, wanted, waitingSince: Date.now(), turn: made.id })
  }

  /**
   * Ends what a free slot holds, and shares it then; one that could not be ended is kept from everybody
   * until the alarm has ended it.
   */
  #end(pool: string, slot: string, accountId: string | null): void {
    const number = this.#nextNumber()
    this.#slots.saveNumber(slot, number)
    this.#ending.set(slot, accountId)
    const ended = destroySlot(this.env, slot, number).then(async (isEnded) => {
      this.#ending.delete(slot)
      if (isEnded) this.#slots.saveEnded(slot)
      else this.#slots.saveEndFailed(slot, Date.now())
      this.#share(pool, null)
      await this.#arm(pool)
    })
    this.ctx.waitUntil(doOrLog("pool.end_failed", { slot }, () => ended))
  }

  /**
   * Facts that the pool decides by: the slots that can be used. A plain runner keeps nothing of an account
   * in a slot.
   */
  #state(pool: string): PoolState {
    const settings = settingsOf(this.env)
    const toEnd = this.#slots.toEnd()
    const names = slotNames(pool, settings).filter((name) => toEnd.get(name) !== true)
    const isPlain = settings.RUNNER_ORIGIN !== undefined
    const free = names
      .filter((name) => this.#isFree(name))
      .map((name) => {
        const lastHolder = isPlain ? null : this.#slots.find(name)?.accountId
        return { name, lastHolder: lastHolder || null }
      })
    // Slots that are being ended for an account count as if it held them.
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

  /** Has a run interrupted where its account has held every slot for too long. */
  async #handOver(pool: string): Promise<void> {
    for (let due = this.#nextHandOver(pool); due; due = this.#nextHandOver(pool)) {
      const { allocation, at } = due
      if (at > Date.now()) return
      try {
        const dispatcher = dispatcherOf(this.env, allocation.accountId)
        if (await dispatcher.handOver(allocation.accountId, allocation)) return
      } catch (error) {
        logError("pool.hand_over_failed", { error: String(error) })
        return
      }
      const known = new Set(this.#slots.allocations().map(({ id }) => id))
      this.#kept = this.#kept.intersection(known).add(allocation.id)
    }
  }

  #nextHandOver(pool: string): HandOver | null {
    if (!this.#requesters.isAnyWaiting() || this.#slots.holders().size !== 1) return null
    const waitMsMax =
      limitsOf({ plan: "trial", ownLimits: null }, settingsOf(this.env)).runSecondsMax * 1000
    return findHandOver(this.#state(pool), { waitMsMax, kept: this.#kept })
  }

  /** Accounts that sent no request for long, though they want or hold a slot. */
  #silent(now: number): string[] {
    const waiting = new Set(this.#requesters.waiting().map(({ accountId }) => accountId))
    return [...waiting.union(this.#slots.holders())].filter((accountId) => {
      const heardAt = this.#requesters.find(accountId)?.heardAt ?? 0
      const sinceMs = now - heardAt
      // A moment to come was told by a clock that has been put right.
      return sinceMs < 0 || sinceMs > (waiting.has(accountId) ? WAKE_MS : WAKE_HOLDER_MS)
    })
  }

  #isFree(slot: string): boolean {
    return this.#slots.isFree(slot) && !this.#ending.has(slot)
  }

  /** Runners remember the highest number of a slot, longer than this object may remember it. */
  #nextNumber(): number {
    const now = Date.now()
    return Math.max(this.#slots.lastAllocation(now) + 1, now)
  }

  #wake(accountId: string, pool: string): void {
    const woken = dispatcherOf(this.env, accountId).wake(accountId, pool)
    this.ctx.waitUntil(Promise.resolve(woken).catch(() => undefined))
  }

  async #arm(pool: string): Promise<void> {
    const isUrgent = this.#requesters.isAnyWaiting() || this.#slots.toEnd().size > 0
    if (!isUrgent && this.#slots.holders().size === 0) return
    const now = Date.now()
    const lookAt = now + (isUrgent ? WAKE_MS : WAKE_HOLDER_MS)
    const handOverAt = this.#nextHandOver(pool)?.at ?? Infinity
    // A hand-over that is due was asked for, and is asked for again at the usual pace.
    const at = handOverAt > now ? Math.min(lookAt, handOverAt) : lookAt
    const armedFor = await this.ctx.storage.getAlarm()
    // An alarm further off was also set by a clock that was ahead.
    if (armedFor === null || armedFor > at) await this.ctx.storage.setAlarm(at)
  }
}
