import { isPlausibleAllocation } from "../../contract/slot-allocation.ts"
import type { SlotAllocation, SlotProblem } from "../../rpc.ts"

const TABLES = [
  `create table if not exists slots (
    slot text primary key, account_id text not null, allocation integer not null,
    is_allocated integer not null)`,
  "create table if not exists slots_to_end (slot text primary key, failed_at integer)",
  `create table if not exists slot_problems (
    slot text, problem text, since integer not null, seen_at integer not null,
    primary key (slot, problem)) without rowid`,
]

/** A slot that was allocated at least once. */
type Slot = {
  slot: string
  /** The account that has it, or had it last; empty where its container was ended. */
  accountId: string
  /** The number that it was last allocated or ended under. */
  allocation: number
  isAllocated: boolean
}

/** A problem is told once it has lasted so long, and for so long after it was seen last. */
const PROBLEMS: Record<SlotProblem, { lastsMsMin: number; toldMsMax: number }> = {
  // An instance may be about to end; a slot that somebody wants is started again sooner.
  container_not_started: { lastsMsMin: 60_000, toldMsMax: 120_000 },
  // The slot's next container may not have it.
  sandbox_failed: { lastsMsMin: 0, toldMsMax: 600_000 },
  ytdlp_update_failed: { lastsMsMin: 0, toldMsMax: 600_000 },
}

/**
 * The slots of a pool: allocations, last holders, containers to end, and problems. Allocations and ends
 * are in memory, so that a decision reads nothing, and written for the object that comes back.
 */
export class Slots {
  readonly #sql: SqlStorage
  readonly #slots = new Map<string, Slot>()
  readonly #toEnd = new Map<string, boolean>()

  constructor(sql: SqlStorage) {
    this.#sql = sql
    for (const statement of TABLES) sql.exec(statement)
    const slots =
      "select slot, account_id as accountId, allocation, is_allocated as held from slots"
    for (const { held, ...row } of sql.exec<Omit<Slot, "isAllocated"> & { held: number }>(slots)) {
      this.#slots.set(row.slot, { ...row, isAllocated: held === 1 })
    }
    const toEnd = "select slot, failed_at as failedAt from slots_to_end"
    for (const row of sql.exec<{ slot: string; failedAt: number | null }>(toEnd)) {
      this.#toEnd.set(row.slot, row.failedAt !== null)
    }
  }

  allocations(): SlotAllocation[] {
    return [...this.#slots.values()].flatMap(({ slot, accountId, allocation: id, isAllocated }) =>
      isAllocated ? [{ id, slot, accountId }] : [],
    )
  }

  /** The allocations of an account, oldest first. */
  of(accountId: string): Pick<SlotAllocation, "id" | "slot">[] {
    const own = this.allocations().filter((allocation) => allocation.accountId === accountId)
    return own.map(({ id, slot }) => ({ id, slot })).toSorted((one, other) => one.id - other.id)
  }

  /** Accounts that hold a slot. */
  holders(): Set<string> {
    return new Set(this.allocations().map(({ accountId }) => accountId))
  }

  /** Slots that were allocated at least once. */
  names(): MapIterator<string> {
    return this.#slots.keys()
  }

  /** A slot; undefined where it is fresh. */
  find(slot: string): Slot | undefined {
    return this.#slots.get(slot)
  }

  isFree(slot: string): boolean {
    return this.#slots.get(slot)?.isAllocated !== true
  }

  /** Slots that had a holder whose container was not ended since. */
  occupied(): string[] {
    return [...this.#slots.values()].flatMap(({ slot, accountId }) => (accountId ? [slot] : []))
  }

  /** The highest number that an allocation has had of those that are plausible. */
  lastAllocation(now: number): number {
    return this.#slots
      .values()
      .map(({ allocation }) => allocation)
      .filter((number) => isPlausibleAllocation(number, now))
      .reduce((highest, number) => Math.max(highest, number), 0)
  }

  /** By account, the number of the last slot that it had, as far as slots tell. */
  lastTurns(): Map<string, number> {
    const turns = new Map<string, number>()
    for (const { accountId, allocation } of this.#slots.values()) {
      if (accountId) turns.set(accountId, Math.max(allocation, turns.get(accountId) ?? 0))
    }
    return turns
  }

  allocate({ id: allocation, slot, accountId }: SlotAllocation): void {
    this.#save({ slot, accountId, allocation, isAllocated: true })
  }

  /** Frees those of some allocations that are this account's. */
  free(ids: readonly number[], accountId: string): void {
    const freed = new Set(ids)
    for (const known of this.#slots.values()) {
      const isOwn = known.isAllocated && known.accountId === accountId
      if (isOwn && freed.has(known.allocation)) this.#save({ ...known, isAllocated: false })
    }
  }

  /** A free slot is about to be ended under a number, and refuses lower ones from then on. */
  saveNumber(slot: string, number: number): void {
    const known = this.#slots.get(slot)
    if (known && known.allocation < number) this.#save({ ...known, allocation: number })
  }

  /** Slots whose container is to be ended before they are allocated again; true where that failed. */
  toEnd(): ReadonlyMap<string, boolean> {
    return this.#toEnd
  }

  saveToEnd(slot: string): void {
    if (this.#toEnd.has(slot)) return
    this.#toEnd.set(slot, false)
    this.#sql.exec("insert or ignore into slots_to_end (slot) values (?)", slot)
  }

  /** The container of a free slot was ended: the slot is nobody's. */
  saveEnded(slot: string): void {
    this.#toEnd.delete(slot)
    this.#sql.exec("delete from slots_to_end where slot = ?", slot)
    const known = this.#slots.get(slot)
    if (known?.isAllocated === false) this.#save({ ...known, accountId: "" })
  }

  saveEndFailed(slot: string, now: number): void {
    this.#toEnd.set(slot, true)
    this.#sql.exec("update slots_to_end set failed_at = ? where slot = ?", now, slot)
  }

  saveProblem(slot: string, problem: SlotProblem, now: number): void {
    const seenBefore = now - PROBLEMS[problem].toldMsMax
    const forget = "delete from slot_problems where problem = ? and seen_at <= ?"
    this.#sql.exec(forget, problem, seenBefore)
    this.#sql.exec(
      `insert into slot_problems (slot, problem, since, seen_at) values (?1, ?2, ?3, ?3)
       on conflict do update set since = min(since, ?3), seen_at = ?3`,
      slot,
      problem,
      now,
    )
  }

  clearProblem(slot: string, problem: SlotProblem): void {
    this.#sql.exec("delete from slot_problems where slot = ? and problem = ?", slot, problem)
  }

  /** Problems of slots that are to be told. */
  problems(now: number): SlotProblem[] {
    const rows = this.#sql
      .exec<{ problem: SlotProblem; since: number; seenAt: number }>(
        "select problem, since, seen_at as seenAt from slot_problems",
      )
      .toArray()
    const told = rows.filter(({ problem, since, seenAt }) => {
      const { lastsMsMin, toldMsMax } = PROBLEMS[problem]
      return since <= now - lastsMsMin && seenAt > now - toldMsMax
    })
    return [...new Set(told.map(({ problem }) => problem))]
  }

  #save(slot: Slot): void {
    this.#slots.set(slot.slot, slot)
    this.#sql.exec(
      `insert into slots (slot, account_id, allocation, is_allocated) values (?, ?, ?, ?)
       on conflict do update set account_id = excluded.account_id,
       allocation = excluded.allocation, is_allocated = excluded.is_allocated`,
      slot.slot,
      slot.accountId,
      slot.allocation,
      slot.isAllocated ? 1 : 0,
    )
  }
}
