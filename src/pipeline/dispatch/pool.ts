import { DurableObject } from "cloudflare:workers"
import { isLateRequest, isPlausibleAllocation } from "../../contract/slot-allocation.ts"
import { limitsOf, settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import { logError } from "../../log.ts"
import type { PoolRpc, SlotAllocation, SlotRequest } from "../../rpc.ts"
import { destroySlot } from "../../runner/client.ts"
import { poolNameOfSlot, slotNames } from "../../runner/pools.ts"
import { openSlotTables } from "../../storage/slot-allocations.ts"
import type { SlotTables } from "../../storage/slot-allocations.ts"
import { findHandOver, nextAllocation } from "./fair-share.ts"
import type { HandOver, PoolState } from "./fair-share.ts"

const WAKE_MS = 15_000

/** Owns the slots of one pool of runners and shares them between accounts. */
export class Pool extends DurableObject<Env> implements PoolRpc {
  readonly #tables: SlotTables
  /** Allocations whose run was handed over before; their dispatchers say so again where it is lost. */
  #kept = new Set<number>()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#tables = openSlotTables(ctx.storage.sql)
  }

  async requestSlots(
    pool: string,
    request: SlotRequest,
  ): Promise<Pick<SlotAllocation, "id" | "slot">[] | null> {
    const now = Date.now()
    const { accountId, number } = request
    const known = this.#tables.requester(accountId)
    if (known && isLateRequest({ number, known: known.number, now })) return null
    const idle = this.#freeSurplus(request)
    this.#tables.saveRequester({
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
    const allocated = await this.#allocateFreeSlots(pool)
    await this.#arm()
    for (const other of new Set(allocated.map((made) => made.accountId))) {
      if (other !== accountId) this.#wake(other)
    }
    return this.#tables.of(accountId).map(({ id, slot }) => ({ id, slot }))
  }

  async runnerStarted(boot: string): Promise<void> {
    const holders = new Set(this.#tables.all().map(({ accountId }) => accountId))
    await Promise.allSettled(
      [...holders].map((accountId) =>
        this.env.DISPATCHER.getByName(accountId).runsLost(accountId, { boot }),
      ),
    )
  }

  async slotStopped({ slot, boot }: { slot: string; boot: string }): Promise<void> {
    const allocation = this.#tables.all().find((each) => each.slot === slot)
    if (!allocation) return
    const { accountId } = allocation
    await this.env.DISPATCHER.getByName(accountId).runsLost(accountId, { stopped: boot })
  }

  async slotDistrusted({ slot, allocation }: { slot: string; allocation: number }): Promise<void> {
    // A later allocation got another container already.
    if (this.#tables.lastAllocationOf(slot) !== allocation) return
    this.#tables.saveToEnd(slot)
    await this.#arm()
  }

  async sandboxJudged({ slot, hasSandbox }: { slot: string; hasSandbox: boolean }): Promise<void> {
    if (hasSandbox) this.#tables.saveSandboxed(slot)
    else this.#tables.saveUnsandboxed(slot, Date.now())
  }

  async ytdlpJudged({ slot, isInstalled }: { slot: string; isInstalled: boolean }): Promise<void> {
    if (isInstalled) this.#tables.saveUpdated(slot)
    else this.#tables.saveNotUpdated(slot, Date.now())
  }

  async usage(pool: string): Promise<{ slots: number; used: number; waitingAccounts: number }> {
    return {
      slots: slotNames(pool, settingsOf(this.env)).length,
      used: this.#tables.all().length,
      waitingAccounts: this.#tables.waiting().length,
    }
  }

  async degradedReasons(): Promise<DegradedReason[]> {
    return this.#tables.degradedReasons(Date.now())
  }

  override async alarm(): Promise<void> {
    await this.#arm()
    const unended = this.#tables.slotsToEnd().filter((slot) => this.#isFree(slot))
    for (const slot of unended) this.ctx.waitUntil(this.#end(slot, this.#nextNumber()))
    const now = Date.now()
    for (const accountId of this.#tables.silentRequesters(now - WAKE_MS, now)) this.#wake(accountId)
    await this.#handOver()
  }

  /** Frees what the account released or no longer needs; answers how many idle slots it keeps. */
  #freeSurplus({ accountId, released, inUse, wanted }: SlotRequest): number {
    for (const id of released) this.#tables.free(id, accountId)
    const idle = this.#tables.of(accountId).filter(({ id }) => !inUse.includes(id))
    for (const { id } of idle.slice(wanted)) this.#tables.free(id, accountId)
    return Math.min(idle.length, wanted)
  }

  async #allocateFreeSlots(pool: string): Promise<SlotAllocation[]> {
    const allocated: SlotAllocation[] = []
    const passed = new Set<string>()
    for (;;) {
      const state = this.#state(pool)
      const free = state.free.filter(({ name }) => !passed.has(name))
      const next = nextAllocation({ ...state, free })
      if (!next) return allocated
      const made = await this.#allocate(pool, next)
      if (made) allocated.push(made)
      else passed.add(next.slot)
    }
  }

  /** Gives a free slot to whose turn it is; nothing of the account before is left in it then. */
  async #allocate(
    pool: string,
    { slot, accountId }: { slot: string; accountId: string },
  ): Promise<SlotAllocation | null> {
    const holder = this.#tables.lastHolder(slot)
    const number = this.#nextNumber()
    let next: string | undefined = accountId
    if (holder !== null && holder !== accountId) this.#tables.saveToEnd(slot)
    if (this.#tables.slotsToEnd().includes(slot)) {
      if (!(await this.#end(slot, number)) || !this.#isFree(slot)) return null
      // An empty slot suits whoever's turn it has become meanwhile.
      const free = [{ name: slot, lastHolder: null }]
      next = nextAllocation({ ...this.#state(pool), free })?.accountId
    }
    const requester = next === undefined ? undefined : this.#tables.requester(next)
    if (!requester || requester.wanted < 1) return null
    const id = Math.max(number, this.#nextNumber())
    const made = { id, slot, accountId: requester.accountId }
    const { wanted } = requester
    this.#tables.allocate(made)
    this.#tables.saveHolder(made)
    this.#tables.saveRequester({
      ...requester,
      wanted: wanted - 1,
      waitingSince: Date.now(),
      turn: id,
    })
    return made
  }

  /**
   * Ends what a free slot holds; one that could not be ended is kept from everybody until the alarm
   * has ended it, so that no request waits for it again.
   */
  async #end(slot: string, number: number): Promise<boolean> {
    this.#tables.saveNumber(slot, number)
    const isEnded = await destroySlot(this.env, slot, number)
    if (isEnded) this.#tables.noteEnded(slot)
    else this.#tables.noteEndFailed(slot, Date.now())
    return isEnded
  }

  /**
   * What the pool decides by: the slots that can be used. A plain runner keeps nothing of an account
   * in a slot.
   */
  #state(pool: string): PoolState {
    const settings = settingsOf(this.env)
    const notEnded = new Set(this.#tables.slotsNotEnded())
    const names = slotNames(pool, settings).filter((name) => !notEnded.has(name))
    const isPlain = settings.RUNNER_ORIGIN !== undefined
    const allocations = this.#tables.all()
    const taken = new Set(allocations.map(({ slot }) => slot))
    const free = names
      .filter((name) => !taken.has(name))
      .map((name) => ({ name, lastHolder: isPlain ? null : this.#tables.lastHolder(name) }))
    const waiting = this.#tables.waiting()
    return { slotCount: names.length, free, allocations, waiting, now: Date.now() }
  }

  /** Has a run interrupted where its account has held every slot for too long. */
  async #handOver(): Promise<void> {
    for (let due = this.#nextHandOver(); due; due = this.#nextHandOver()) {
      const { allocation, at } = due
      if (at > Date.now()) return
      try {
        const dispatcher = this.env.DISPATCHER.getByName(allocation.accountId)
        if (await dispatcher.handOver(allocation.accountId, allocation)) return
      } catch (error) {
        logError("pool.hand_over_failed", { error: String(error) })
        return
      }
      const known = this.#tables.all().filter(({ id }) => this.#kept.has(id))
      this.#kept = new Set([...known.map(({ id }) => id), allocation.id])
    }
  }

  #nextHandOver(): HandOver | null {
    const [allocation] = this.#tables.all()
    if (!allocation) return null
    const waitMsMax =
      limitsOf({ plan: "trial", ownLimits: null }, settingsOf(this.env)).runSecondsMax * 1000
    const state = this.#state(poolNameOfSlot(allocation.slot))
    return findHandOver(state, { waitMsMax, kept: this.#kept })
  }

  /** Runners remember the highest number of a slot, longer than this object may remember it. */
  #nextNumber(): number {
    const now = Date.now()
    return Math.max(this.#tables.lastAllocation(now) + 1, now)
  }

  #isFree(slot: string): boolean {
    return this.#tables.all().every((each) => each.slot !== slot)
  }

  #wake(accountId: string): void {
    const woken = this.env.DISPATCHER.getByName(accountId).wake(accountId)
    this.ctx.waitUntil(Promise.resolve(woken).catch(() => undefined))
  }

  async #arm(): Promise<void> {
    const isBusy =
      this.#tables.all().length > 0 ||
      this.#tables.waiting().length > 0 ||
      this.#tables.slotsToEnd().length > 0
    if (!isBusy) return
    const now = Date.now()
    const handOverAt = this.#nextHandOver()?.at ?? Infinity
    // One that is due already has been asked for, and is asked for again at the usual pace.
    const at = handOverAt > now ? Math.min(now + WAKE_MS, handOverAt) : now + WAKE_MS
    const armedFor = await this.ctx.storage.getAlarm()
    // One that is further off was also set by a clock that was ahead.
    if (armedFor === null || armedFor > at) await this.ctx.storage.setAlarm(at)
  }
}
