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

export type Requesters = ReturnType<typeof openRequesters>

/**
 * Accounts that requested slots of a pool. Those that still want one are written by `flush`; of the others
 * only memory knows, and `turns`, the numbers of their last allocations.
 */
export function openRequesters(sql: SqlStorage, turns: ReadonlyMap<string, number>) {
  const known = new Map<string, Requester>()
  const waiting = new Map<string, Requester>()
  const written = new Map<string, Requester>()
  const unwritten = new Set<string>()
  const unheard = { number: 0, heardAt: 0 }
  for (const [accountId, turn] of turns) {
    known.set(accountId, { accountId, ...unheard, ...NOTHING, turn })
  }
  const query = `select account_id as accountId, wanted, since as waitingSince,
    slots_share_max as slotsShareMax, turn from waiting_accounts`
  for (const row of sql.exec<Omit<Requester, "number" | "heardAt">>(query)) {
    const requester = { ...row, ...unheard }
    for (const map of [known, waiting, written]) map.set(row.accountId, requester)
  }
  return {
    find: (accountId: string) => known.get(accountId),
    /** Accounts that want a slot. */
    waiting: (): Requester[] => [...waiting.values()],
    isAnyWaiting: () => waiting.size > 0,
    save(requester: Requester): void {
      const { accountId } = requester
      known.set(accountId, requester)
      if (requester.wanted > 0) waiting.set(accountId, requester)
      else waiting.delete(accountId)
      unwritten.add(accountId)
    },
    /** Forgets those that neither want nor hold a slot and were not heard of since a moment. */
    forget(since: number, holds: (accountId: string) => boolean): void {
      for (const { accountId, wanted, heardAt } of known.values()) {
        if (wanted === 0 && heardAt < since && !holds(accountId)) known.delete(accountId)
      }
    },
    /** Writes who wants slots now, as far as it has changed. */
    flush(): void {
      for (const accountId of unwritten) {
        const requester = waiting.get(accountId)
        const before = written.get(accountId)
        if (requester && (!before || !isSame(requester, before))) {
          writeWaiting(sql, requester)
          written.set(accountId, requester)
        }
        if (!requester && written.delete(accountId)) {
          sql.exec("delete from waiting_accounts where account_id = ?", accountId)
        }
      }
      unwritten.clear()
    },
  }
}

const NOTHING = { wanted: 0, waitingSince: 0, slotsShareMax: 1 }

function writeWaiting(
  sql: SqlStorage,
  { accountId, wanted, waitingSince, slotsShareMax, turn }: Requester,
): void {
  sql.exec(
    `insert or replace into waiting_accounts (account_id, wanted, since, slots_share_max, turn)
     values (?, ?, ?, ?, ?)`,
    accountId,
    wanted,
    waitingSince,
    slotsShareMax,
    turn,
  )
}

function isSame(one: Requester, other: Requester): boolean {
  return (
    one.wanted === other.wanted &&
    one.waitingSince === other.waitingSince &&
    one.slotsShareMax === other.slotsShareMax &&
    one.turn === other.turn
  )
}
