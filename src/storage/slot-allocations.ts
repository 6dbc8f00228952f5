import type { DegradedReason } from "../contract/runner-health.ts"
import { isPlausibleAllocation } from "../contract/slot-allocation.ts"
import type { SlotAllocation } from "../rpc.ts"
import { createSlotTables } from "./slot-schema.ts"

export type SlotTables = ReturnType<typeof openSlotTables>

/**
 * The pool's slots: which are allocated, who had each last, which are to be ended, and who waits. All is
 * in memory, so that a decision reads nothing, and what an object that comes back needs is written too.
 */
export function openSlotTables(sql: SqlStorage) {
  createSlotTables(sql)
  const slots = new Map<string, Slot>()
  const held = new Map<string, Map<number, string>>()
  for (const row of sql.exec<Slot>(
    "select slot, account_id as accountId, last_grant as number, held as isHeld from slots order by last_grant",
  )) {
    slots.set(row.slot, row)
    if (row.isHeld === 1) heldBy(held, row.accountId).set(row.number, row.slot)
  }
  return {
    ...allocationTable(sql, slots, held),
    ...holderTable(sql, slots),
    ...slotProblemTables(sql),
  }
}

/** A slot that was allocated at least once. */
type Slot = {
  slot: string
  /** Who had it last; empty where what it held was ended. */
  accountId: string
  /** The number that it was last allocated or ended under. */
  number: number
  /** 1 where it is allocated, under this number and to this account. */
  isHeld: number
}

type Held = Map<string, Map<number, string>>

function heldBy(held: Held, accountId: string): Map<number, string> {
  const known = held.get(accountId) ?? new Map<number, string>()
  held.set(accountId, known)
  return known
}

function saveSlot(sql: SqlStorage, { slot, accountId, number, isHeld }: Slot): void {
  sql.exec(
    `insert into slots (slot, account_id, last_grant, held) values (?, ?, ?, ?) on conflict do update
     set account_id = excluded.account_id, last_grant = excluded.last_grant, held = excluded.held`,
    slot,
    accountId,
    number,
    isHeld,
  )
}

function allocationTable(sql: SqlStorage, slots: Map<string, Slot>, held: Held) {
  function save(slot: Slot): void {
    slots.set(slot.slot, slot)
    saveSlot(sql, slot)
  }
  return {
    all: (): SlotAllocation[] =>
      [...held].flatMap(([accountId, of]) =>
        [...of].map(([id, slot]) => ({ id, slot, accountId })),
      ),
    /** A slot of the pool; null where none was ever allocated. */
    anySlot: (): string | null => slots.keys().next().value ?? null,
    /** Accounts that hold a slot. */
    holders: (): string[] => [...held.keys()],
    /** The allocations of an account, oldest first. */
    of: (accountId: string): Pick<SlotAllocation, "id" | "slot">[] =>
      [...(held.get(accountId) ?? [])].map(([id, slot]) => ({ id, slot })),
    /** The account that holds a slot now; null where it is free. */
    holderOf(slot: string): string | null {
      const known = slots.get(slot)
      return known?.isHeld === 1 ? known.accountId : null
    },
    allocate({ id, slot, accountId }: SlotAllocation): void {
      heldBy(held, accountId).set(id, slot)
      save({ slot, accountId, number: id, isHeld: 1 })
    },
    /** Frees an allocation, if it is this account's. */
    free(id: number, accountId: string): void {
      const of = held.get(accountId)
      const slot = of?.get(id)
      if (!of || slot === undefined) return
      of.delete(id)
      if (of.size === 0) held.delete(accountId)
      save({ slot, accountId, number: id, isHeld: 0 })
    },
  }
}

function holderTable(sql: SqlStorage, slots: Map<string, Slot>) {
  function save(slot: Slot): void {
    slots.set(slot.slot, slot)
    saveSlot(sql, slot)
  }
  return {
    /** The account that had a slot last; none where it is fresh, or what it held was ended. */
    lastHolder: (slot: string) => slots.get(slot)?.accountId || null,
    /** Slots that had a holder whose container was not ended since. */
    occupied: (): string[] =>
      [...slots.values()].flatMap(({ slot, accountId }) => (accountId === "" ? [] : [slot])),
    /** The number that a slot was last allocated or ended under; 0 where it is fresh. */
    lastAllocationOf: (slot: string) => slots.get(slot)?.number ?? 0,
    /** The highest number that an allocation has had of those that are plausible. */
    lastAllocation(now: number): number {
      let highest = 0
      for (const { number } of slots.values()) {
        if (number > highest && isPlausibleAllocation(number, now)) highest = number
      }
      return highest
    },
    /** By account, the number of the last slot that it had, as far as slots tell. */
    lastTurns: (): Map<string, number> =>
      new Map(
        [...slots.values()].flatMap(({ accountId, number }) =>
          accountId === "" ? [] : [[accountId, number]],
        ),
      ),
    /** A free slot is about to be ended under a number, and refuses lower ones from then on. */
    saveNumber(slot: string, number: number): void {
      const known = slots.get(slot)
      if (known && known.number < number) save({ ...known, number })
    },
    /** What a free slot held was ended: it is nobody's. */
    saveEmpty(slot: string): void {
      const known = slots.get(slot)
      if (known?.isHeld === 0) save({ ...known, accountId: "" })
    },
  }
}

/** A container with a problem that nobody heard of again says nothing of those to come. */
const PROBLEM_MS_MAX = 600_000
/** Starts that are refused for less are no problem: an instance may be about to end. */
const UNSTARTED_MS_MIN = 60_000
/** A slot that somebody wants is started again sooner than this. */
const UNSTARTED_MS_MAX = 120_000

function slotProblemTables(sql: SqlStorage) {
  const starts = startTable(sql)
  const toEnd = new Set<string>()
  const notEnded = new Set<string>()
  for (const { slot, failedAt } of sql.exec<{ slot: string; failedAt: number | null }>(
    "select slot, failed_at as failedAt from unended_slots",
  )) {
    toEnd.add(slot)
    if (failedAt !== null) notEnded.add(slot)
  }
  function isSeen(table: string, now: number): boolean {
    const query = `select 1 from ${table} where seen_at > ? limit 1`
    return sql.exec(query, now - PROBLEM_MS_MAX).toArray().length > 0
  }
  return {
    ...starts,
    /** Slots whose container is to be ended before they are allocated again. */
    slotsToEnd: (): ReadonlySet<string> => toEnd,
    /** Those of them that could not be ended so far. */
    slotsNotEnded: (): ReadonlySet<string> => notEnded,
    saveToEnd(slot: string): void {
      if (toEnd.has(slot)) return
      toEnd.add(slot)
      sql.exec("insert or ignore into unended_slots (slot) values (?)", slot)
    },
    noteEnded(slot: string): void {
      toEnd.delete(slot)
      notEnded.delete(slot)
      sql.exec("delete from unended_slots where slot = ?", slot)
    },
    noteEndFailed(slot: string, now: number): void {
      notEnded.add(slot)
      sql.exec("update unended_slots set failed_at = ? where slot = ?", now, slot)
    },
    saveSandboxed(slot: string): void {
      sql.exec("delete from unsandboxed_slots where slot = ?", slot)
    },
    saveUnsandboxed(slot: string, now: number): void {
      sql.exec("insert or replace into unsandboxed_slots (slot, seen_at) values (?, ?)", slot, now)
    },
    saveUpdated(slot: string): void {
      sql.exec("delete from outdated_slots where slot = ?", slot)
    },
    saveNotUpdated(slot: string, now: number): void {
      sql.exec("insert or replace into outdated_slots (slot, seen_at) values (?, ?)", slot, now)
    },
    degradedReasons(now: number): DegradedReason[] {
      return [
        ...(starts.isRefused(now) ? ["container_not_started" as const] : []),
        ...(isSeen("unsandboxed_slots", now) ? ["sandbox_failed" as const] : []),
        ...(notEnded.size > 0 ? ["slot_not_ended" as const] : []),
        ...(isSeen("outdated_slots", now) ? ["ytdlp_update_failed" as const] : []),
      ]
    },
  }
}

function startTable(sql: SqlStorage) {
  return {
    saveStarted(slot: string): void {
      sql.exec("delete from unstarted_slots where slot = ?", slot)
    },
    saveNotStarted(slot: string, now: number): void {
      sql.exec("delete from unstarted_slots where seen_at <= ?", now - UNSTARTED_MS_MAX)
      sql.exec(
        `insert into unstarted_slots (slot, since, seen_at) values (?, ?, ?)
         on conflict do update set seen_at = excluded.seen_at`,
        slot,
        now,
        now,
      )
    },
    /** Whether starts of a slot that somebody wants have been refused for a minute. */
    isRefused(now: number): boolean {
      const query = "select 1 from unstarted_slots where since <= ? and seen_at > ? limit 1"
      return sql.exec(query, now - UNSTARTED_MS_MIN, now - UNSTARTED_MS_MAX).toArray().length > 0
    },
  }
}
