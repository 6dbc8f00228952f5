import { DurableObject } from "cloudflare:workers"
import { isPlausibleGrant } from "../contract/grant.ts"
import type { Env } from "../env.ts"
import { destroySlot, slotNames } from "../runner/client.ts"
import { openGrants } from "../storage/grants.ts"
import type { Grant, Grants } from "../storage/grants.ts"

const POKE_MS = 15_000

export type Ask = {
  accountId: string
  /** Rises with every ask of an account; lower ones are late and ignored. */
  ask: number
  /** How many more tasks could start now. */
  want: number
  /** Grants whose task is under way, and grants whose task is done. */
  using: number[]
  done: number[]
}

/** Owns the names of the slots and grants them in turn between accounts; one per runner class. */
export class Pool extends DurableObject<Env> {
  readonly #grants: Grants

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#grants = openGrants(ctx.storage.sql)
  }

  /** Answers all grants of the account; null where a later ask was heard already. */
  async ask(ask: Ask): Promise<{ id: number; slot: string }[] | null> {
    const now = Date.now()
    const known = this.#grants.asker(ask.accountId)
    if (known && ask.ask <= known.ask) return null
    const idle = this.#freeSurplus(ask)
    this.#grants.saveAsker({
      accountId: ask.accountId,
      ask: ask.ask,
      want: Math.max(0, ask.want - idle),
      heardAt: now,
      // A turn is the number of a grant, and nobody waits for a day that a wrong clock spoke of.
      turn: known && isPlausibleGrant(known.turn, now) ? known.turn : 0,
    })
    const given = await this.#giveFreeSlots()
    await this.#arm()
    for (const accountId of new Set(given.map((grant) => grant.accountId))) {
      if (accountId !== ask.accountId) this.#poke(accountId)
    }
    return this.#grants.of(ask.accountId).map(({ id, slot }) => ({ id, slot }))
  }

  /** A runner's new process came up: whoever holds a slot looks whether its run went with the old. */
  async runnerUp(boot: string): Promise<void> {
    const holders = new Set(this.#grants.all().map((grant) => grant.accountId))
    await Promise.allSettled(
      [...holders].map((accountId) =>
        this.env.DISPATCHER.getByName(accountId).runsLost(accountId, { boot }),
      ),
    )
  }

  /** A slot's container stopped: whoever holds the slot takes back what its process had. */
  async slotStopped({ slot, boot }: { slot: string; boot: string }): Promise<void> {
    const grant = this.#grants.all().find((given) => given.slot === slot)
    if (!grant) return
    const { accountId } = grant
    await this.env.DISPATCHER.getByName(accountId).runsLost(accountId, { stopped: boot })
  }

  override async alarm(): Promise<void> {
    await this.#arm()
    for (const accountId of this.#grants.silentAskers(Date.now() - POKE_MS)) this.#poke(accountId)
  }

  /** Frees what the account is done with or no longer needs; answers how many idle ones it keeps. */
  #freeSurplus(ask: Ask): number {
    for (const id of ask.done) this.#grants.free(id, ask.accountId)
    const idle = this.#grants.of(ask.accountId).filter((grant) => !ask.using.includes(grant.id))
    for (const grant of idle.slice(ask.want)) this.#grants.free(grant.id, ask.accountId)
    return Math.min(idle.length, ask.want)
  }

  async #giveFreeSlots(): Promise<Grant[]> {
    const given: Grant[] = []
    for (const slot of slotNames(this.env)) {
      const grant = this.#isFree(slot) ? await this.#giveSlot(slot) : null
      if (grant) given.push(grant)
    }
    return given
  }

  async #giveSlot(slot: string): Promise<Grant | null> {
    const asker = this.#grants.nextAsker()
    if (!asker) return null
    const holder = this.#grants.lastHolder(slot)
    const number = this.#nextNumber()
    if (holder !== null && holder !== asker.accountId) {
      if (!(await destroySlot(this.env, slot, number)) || !this.#isFree(slot)) return null
    }
    const next = this.#grants.asker(asker.accountId)
    if (!next || next.want < 1) return null
    const id = Math.max(number, this.#nextNumber())
    const grant = { id, slot, accountId: next.accountId }
    this.#grants.give(grant)
    this.#grants.noteHolder(grant)
    this.#grants.saveAsker({ ...next, want: next.want - 1, turn: id })
    return grant
  }

  /** Runners remember the highest number of a slot, longer than this object may remember it. */
  #nextNumber(): number {
    const now = Date.now()
    return Math.max(this.#grants.lastGrant(now) + 1, now)
  }

  #isFree(slot: string): boolean {
    return this.#grants.all().every((grant) => grant.slot !== slot)
  }

  #poke(accountId: string): void {
    const poked = this.env.DISPATCHER.getByName(accountId).poked(accountId)
    this.ctx.waitUntil(Promise.resolve(poked).catch(() => undefined))
  }

  async #arm(): Promise<void> {
    const busy = this.#grants.all().length > 0 || this.#grants.nextAsker() !== undefined
    if (busy && (await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + POKE_MS)
    }
  }
}
