import type { DegradedReason } from "../contract/runner-health.ts"
import { isPlausibleAllocation } from "../contract/slot-allocation.ts"
import type { SlotAllocation } from "../rpc.ts"

export type SlotTables = ReturnType<typeof openSlotTables>

/**
 * The pool's own tables: slots allocated, who wants how many, and who had each slot last. Tables
 * and columns keep the names that deployed objects made them under.
 */
export function openSlotTables(sql: SqlStorage) {
  sql.exec(`create table if not exists grants (
    id integer primary key, slot text not null unique, account_id text not null)`)
  sql.exec(`create table if not exists askers (
    account_id text primary key, ask integer not null, want integer not null,
    heard_at integer not null, turn integer not null)`)
  sql.exec(`create table if not exists waits (
    account_id text primary key, since integer not null, slots_share_max real not null)`)
  sql.exec(`create table if not exists slots (
    slot text primary key, account_id text not null, last_grant integer not null)`)
  sql.exec(`create table if not exists unended_slots (
    slot text primary key, failed_at integer)`)
  sql.exec(`create table if not exists unsandboxed_slots (
    slot text primary key, seen_at integer not null)`)
  sql.exec(`create table if not exists outdated_slots (
    slot text primary key, seen_at integer not null)`)
  return {
    ...allocationTable(sql),
    ...requesterTable(sql),
    ...slotTable(sql),
    ...slotProblemTables(sql),
  }
}

/** What a table says, read once a turn until a write to it: a decision asks for it many times. */
function openRead<Row>(read: () => readonly Row[]) {
  let known: readonly Row[] | null = null
  function forget(): void {
    known = null
  }
  return {
    get(): readonly Row[] {
      if (known) return known
      queueMicrotask(forget)
      return (known = read())
    },
    forget,
  }
}

function allocationTable(sql: SqlStorage) {
  const made = openRead(() =>
    sql
      .exec<SlotAllocation>("select id, slot, account_id as accountId from grants order by id")
      .toArray(),
  )
  return {
    all: () => made.get(),
    of: (accountId: string) => made.get().filter((each) => each.accountId === accountId),
    allocate({ id, slot, accountId }: SlotAllocation): void {
      made.forget()
      sql.exec("insert into grants (id, slot, account_id) values (?, ?, ?)", id, slot, accountId)
    },
    /** Frees an allocation, if it is this account's. */
    free(id: number, accountId: string): void {
      made.forget()
      sql.exec("delete from grants where id = ? and account_id = ?", id, accountId)
    },
  }
}

/** An account that requested slots. */
export type Requester = {
  accountId: string
  /** Number of its last request. */
  number: number
  wanted: number
  /** Since when it wants a slot, or when it got its last one if that was later. */
  waitingSince: number
  /** Share of the slots that it may hold while others want some. */
  slotsShareMax: number
  heardAt: number
  /** Number of its last allocation; 0 where it had none. */
  turn: number
}

function requesterTable(sql: SqlStorage) {
  const columns = `account_id as accountId, ask as number, want as wanted,
    coalesce(since, heard_at) as waitingSince, coalesce(slots_share_max, 1) as slotsShareMax,
    heard_at as heardAt, turn`
  const from = "askers left join waits using (account_id)"
  const waiting = openRead(() =>
    sql.exec<Requester>(`select ${columns} from ${from} where want > 0`).toArray(),
  )
  return {
    requester: (accountId: string) =>
      sql
        .exec<Requester>(`select ${columns} from ${from} where account_id = ?`, accountId)
        .toArray()[0],
    /** Accounts that want a slot. */
    waiting: () => waiting.get(),
    /** Accounts that hold or want a slot and sent no request between a moment and now. */
    silentRequesters: (since: number, now: number) =>
      sql
        .exec<{ accountId: string }>(
          `select account_id as accountId from askers
           where (heard_at < ? or heard_at > ?) and
           (want > 0 or account_id in (select account_id from grants))`,
          since,
          now,
        )
        .toArray()
        .map((row) => row.accountId),
    saveRequester(requester: Requester): void {
      waiting.forget()
      sql.exec(
        `insert or replace into askers (account_id, ask, want, heard_at, turn)
         values (?, ?, ?, ?, ?)`,
        requester.accountId,
        requester.number,
        requester.wanted,
        requester.heardAt,
        requester.turn,
      )
      sql.exec(
        "insert or replace into waits (account_id, since, slots_share_max) values (?, ?, ?)",
        requester.accountId,
        requester.waitingSince,
        requester.slotsShareMax,
      )
    },
  }
}

function slotTable(sql: SqlStorage) {
  const slots = openRead(() =>
    sql
      .exec<SlotAllocation>(
        "select slot, account_id as accountId, last_grant as id from slots order by last_grant desc",
      )
      .toArray(),
  )
  function find(name: string): SlotAllocation | undefined {
    return slots.get().find(({ slot }) => slot === name)
  }
  return {
    /** The account that had a slot last; none where it is fresh. */
    lastHolder: (slot: string) => find(slot)?.accountId ?? null,
    /** The number that a slot was last allocated or ended under; 0 where it is fresh. */
    lastAllocationOf: (slot: string) => find(slot)?.id ?? 0,
    saveHolder(made: SlotAllocation): void {
      slots.forget()
      sql.exec(
        "insert or replace into slots (slot, account_id, last_grant) values (?, ?, ?)",
        made.slot,
        made.accountId,
        made.id,
      )
    },
    /** A slot is about to be ended under a number, and refuses lower ones from then on. */
    saveNumber(slot: string, number: number): void {
      slots.forget()
      sql.exec("update slots set last_grant = max(last_grant, ?) where slot = ?", number, slot)
    },
    /** The highest number that an allocation has had of those that are plausible. */
    lastAllocation: (now: number) =>
      slots.get().find(({ id }) => isPlausibleAllocation(id, now))?.id ?? 0,
  }
}

/** A container with a problem that nobody heard of again says nothing of those to come. */
const PROBLEM_MS_MAX = 600_000

function slotProblemTables(sql: SqlStorage) {
  function slotsOf(from: string, ...values: SqlStorageValue[]): string[] {
    return sql
      .exec<{ slot: string }>(`select slot from ${from}`, ...values)
      .toArray()
      .map(({ slot }) => slot)
  }
  const toEnd = openRead(() => slotsOf("unended_slots"))
  const notEnded = openRead(() => slotsOf("unended_slots where failed_at > 0"))
  function forget(): void {
    toEnd.forget()
    notEnded.forget()
  }
  return {
    /** Slots whose container is to be ended before they are allocated again. */
    slotsToEnd: () => toEnd.get(),
    /** Those of them that could not be ended so far. */
    slotsNotEnded: () => notEnded.get(),
    saveToEnd(slot: string): void {
      forget()
      sql.exec("insert or ignore into unended_slots (slot) values (?)", slot)
    },
    noteEnded(slot: string): void {
      forget()
      sql.exec("delete from unended_slots where slot = ?", slot)
    },
    noteEndFailed(slot: string, now: number): void {
      forget()
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
      const unsandboxed = slotsOf("unsandboxed_slots where seen_at > ?", now - PROBLEM_MS_MAX)
      const outdated = slotsOf("outdated_slots where seen_at > ?", now - PROBLEM_MS_MAX)
      return [
        ...(unsandboxed.length > 0 ? ["sandbox_failed" as const] : []),
        ...(notEnded.get().length > 0 ? ["slot_not_ended" as const] : []),
        ...(outdated.length > 0 ? ["ytdlp_update_failed" as const] : []),
      ]
    },
  }
}
