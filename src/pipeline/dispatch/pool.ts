import { DurableObject } from "cloudflare:workers"
import { isPlausibleAllocation } from "../../contract/slot-allocation.ts"
import { settingsOf } from "../../env.ts"
import type { Env } from "../../env.ts"
import type { DegradedReason } from "../../contract/runner-health.ts"
import type { PoolRpc, SlotAllocation, SlotRequest } from "../../rpc.ts"
import { destroySlot } from "../../runner/client.ts"
import { slotNames } from "../../runner/pools.ts"
import { openSlotTables } from "../../storage/slot-allocations.ts"
import type { SlotTables } from "../../storage/slot-allocations.ts"

const WAKE_MS = 15_000

/** Owns the slots of one pool of runners and allocates them in turn between accounts. */
export class Pool extends DurableObject<Env> implements PoolRpc {
  readonly #tables: SlotTables

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
    if (known && number <= known.number) return null
    const idle = this.#freeSurplus(request)
    this.#tables.saveRequester({
      accountId,
      number,
      wanted: Math.max(0, request.wanted - idle),
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

  async degradedReasons(): Promise<DegradedReason[]> {
    return this.#tables.degradedReasons(Date.now())
  }

  override async alarm(): Promise<void> {
    await this.#arm()
    const unended = this.#tables.slotsToEnd().filter((slot) => this.#isFree(slot))
    for (const slot of unended) this.ctx.waitUntil(this.#end(slot, this.#nextNumber()))
    const since = Date.now() - WAKE_MS
    for (const accountId of this.#tables.silentRequesters(since)) this.#wake(accountId)
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
    for (const slot of slotNames(pool, settingsOf(this.env))) {
      const made = this.#isFree(slot) ? await this.#allocate(slot) : null
      if (made) allocated.push(made)
    }
    return allocated
  }

  /** Gives a free slot to whose turn it is; nothing of the account before is left in it then. */
  async #allocate(slot: string): Promise<SlotAllocation | null> {
    const requester = this.#tables.nextRequester()
    if (!requester) return null
    const holder = this.#tables.lastHolder(slot)
    const number = this.#nextNumber()
    if (holder !== null && holder !== requester.accountId) this.#tables.saveToEnd(slot)
    if (this.#tables.slotsToEnd().includes(slot)) {
      if (!(await this.#end(slot, number)) || !this.#isFree(slot)) return null
    }
    const next = this.#tables.requester(requester.accountId)
    if (!next || next.wanted < 1) return null
    const id = Math.max(number, this.#nextNumber())
    const made = { id, slot, accountId: next.accountId }
    this.#tables.allocate(made)
    this.#tables.saveHolder(made)
    this.#tables.saveRequester({ ...next, wanted: next.wanted - 1, turn: id })
    return made
  }

  /** Ends what a free slot holds; one that could not be ended is kept from everybody until it is. */
  async #end(slot: string, number: number): Promise<boolean> {
    const isEnded = await destroySlot(this.env, slot, number)
    if (isEnded) this.#tables.noteEnded(slot)
    else this.#tables.noteEndFailed(slot, Date.now())
    return isEnded
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
      this.#tables.nextRequester() !== undefined ||
      this.#tables.slotsToEnd().length > 0
    if (isBusy && (await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + WAKE_MS)
    }
  }
}
