import { isPlausibleAllocationNumber } from "../contract/slot-allocation.ts"
import type { SlotAllocation, SlotDegradedReason } from "../bindings/rpc.ts"

const TABLES = [
  `create table if not exists slots (
    slot text primary key, account_id text not null, allocation integer not null,
    is_allocated integer not null)`,
  "create table if not exists slots_to_end (slot text primary key, failed_at integer)",
  `create table if not exists slot_problems (
    slot text, problem text, since integer not null, seen_at integer not null,
    primary key (slot, problem)) without rowid`,
]

/** Slot that was allocated at least once, with its last allocation. */
type Slot = {
  slot: string
  /**
   * Account that has the slot or had the slot last. Empty after the slot's container was stopped.
   */
  accountId: string
  /** Number of the slot's last allocation, or a later number that the stop of its container got. */
  allocation: number
  isAllocated: boolean
}

/**
 * Durations, in milliseconds, that determine when a slot's problem is listed as a reason why the
 * service is degraded. The problem is listed once it has lasted for `lastsMsMin`, until `toldMsMax`
 * has passed since the problem was last seen.
 */
const PROBLEMS: Record<SlotDegradedReason, { lastsMsMin: number; toldMsMax: number }> = {
  // A failed start may be temporary. While the slot is in demand, its container is started again
  // within `lastsMsMin`.
  container_not_started: { lastsMsMin: 60_000, toldMsMax: 120_000 },
  // The problem is listed for at most ten minutes after it was seen, because the slot's next
  // container may not have the problem.
  sandbox_failed: { lastsMsMin: 0, toldMsMax: 600_000 },
  ytdlp_update_failed: { lastsMsMin: 0, toldMsMax: 600_000 },
}

/**
 * Slots of a pool: allocations, last holders, containers to stop, and problems. Allocations and
 * stops are kept in memory, so that decisions read no storage, and stored for the next start of the
 * object.
 */
export class PoolSlots {
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

  /** Returns the allocations of an account, oldest first. */
  of(accountId: string): Pick<SlotAllocation, "id" | "slot">[] {
    const own = this.allocations().filter((allocation) => allocation.accountId === accountId)
    return own.map(({ id, slot }) => ({ id, slot })).toSorted((one, other) => one.id - other.id)
  }

  /** Returns the accounts that hold a slot. */
  holders(): Set<string> {
    return new Set(this.allocations().map(({ accountId }) => accountId))
  }

  /** Returns the names of slots that were allocated at least once. */
  names(): MapIterator<string> {
    return this.#slots.keys()
  }

  /** Returns a slot, or undefined if the slot was never allocated. */
  find(slot: string): Slot | undefined {
    return this.#slots.get(slot)
  }

  isFree(slot: string): boolean {
    return this.#slots.get(slot)?.isAllocated !== true
  }

  /** Returns the slots that an account has or had, and whose container was not stopped since. */
  occupied(): string[] {
    return [...this.#slots.values()].flatMap(({ slot, accountId }) => (accountId ? [slot] : []))
  }

  /**
   * Returns the highest allocation number. Numbers contain the time; those too far in the future
   * are ignored, because they come from a clock that ran ahead.
   */
  lastAllocation(now: number): number {
    return this.#slots
      .values()
      .map(({ allocation }) => allocation)
      .filter((number) => isPlausibleAllocationNumber(number, now))
      .reduce((highest, number) => Math.max(highest, number), 0)
  }

  /**
   * Returns the number of each account's last allocation, for accounts that have a slot or were the
   * last to have one.
   */
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

  /** Frees those of the given allocations that belong to the account. */
  free(ids: readonly number[], accountId: string): void {
    const freed = new Set(ids)
    for (const row of this.#slots.values()) {
      const isOwn = row.isAllocated && row.accountId === accountId
      if (isOwn && freed.has(row.allocation)) this.#save({ ...row, isAllocated: false })
    }
  }

  /**
   * Saves a new number for a free slot whose container is about to be stopped with this number.
   * Calls for allocations with lower numbers are refused from then on.
   */
  saveNumber(slot: string, number: number): void {
    const earlier = this.#slots.get(slot)
    if (earlier && earlier.allocation < number) this.#save({ ...earlier, allocation: number })
  }

  /**
   * Returns the slots whose containers must be stopped before these slots are allocated again. The
   * value in the map is true if an attempt to stop the container has failed.
   */
  toEnd(): ReadonlyMap<string, boolean> {
    return this.#toEnd
  }

  saveToEnd(slot: string): void {
    if (this.#toEnd.has(slot)) return
    this.#toEnd.set(slot, false)
    this.#sql.exec("insert or ignore into slots_to_end (slot) values (?)", slot)
  }

  /** Records that the container of a free slot was stopped, so that the slot has no last holder. */
  saveEnded(slot: string): void {
    this.#toEnd.delete(slot)
    this.#sql.exec("delete from slots_to_end where slot = ?", slot)
    const earlier = this.#slots.get(slot)
    if (earlier?.isAllocated === false) this.#save({ ...earlier, accountId: "" })
  }

  saveEndFailed(slot: string, now: number): void {
    this.#toEnd.set(slot, true)
    this.#sql.exec("update slots_to_end set failed_at = ? where slot = ?", now, slot)
  }

  saveProblem(slot: string, problem: SlotDegradedReason, now: number): void {
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

  clearProblem(slot: string, problem: SlotDegradedReason): void {
    this.#sql.exec("delete from slot_problems where slot = ? and problem = ?", slot, problem)
  }

  /** Returns the problems of slots that are due for a report, each problem once. */
  problems(now: number): SlotDegradedReason[] {
    const rows = this.#sql
      .exec<{ problem: SlotDegradedReason; since: number; seenAt: number }>(
        "select problem, since, seen_at as seenAt from slot_problems",
      )
      .toArray()
    const current = rows.filter(({ problem, since, seenAt }) => {
      const { lastsMsMin, toldMsMax } = PROBLEMS[problem]
      return since <= now - lastsMsMin && seenAt > now - toldMsMax
    })
    return [...new Set(current.map(({ problem }) => problem))]
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
