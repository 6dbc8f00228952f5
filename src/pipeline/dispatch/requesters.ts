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

const TABLE = `create table if not exists waiting_accounts (
  account_id text primary key, wanted integer not null, waiting_since integer not null,
  slots_share_max real not null, turn integer not null) without rowid`

/** Writes no row that is the same already. */
const UPSERT = `insert into waiting_accounts
  (account_id, wanted, waiting_since, slots_share_max, turn) values (?, ?, ?, ?, ?)
  on conflict do update set wanted = excluded.wanted, waiting_since = excluded.waiting_since,
  slots_share_max = excluded.slots_share_max, turn = excluded.turn
  where (wanted, waiting_since, slots_share_max, turn)
  is not (excluded.wanted, excluded.waiting_since, excluded.slots_share_max, excluded.turn)`

/**
 * Accounts that requested slots of a pool. Those that still want one are written by `flush`; of the others
 * only memory knows, and `turns`, the numbers of their last allocations.
 */
export class Requesters {
  readonly #sql: SqlStorage
  readonly #known = new Map<string, Requester>()
  readonly #waiting = new Map<string, Requester>()
  readonly #written = new Set<string>()
  readonly #unwritten = new Set<string>()

  constructor(sql: SqlStorage, turns: ReadonlyMap<string, number>) {
    this.#sql = sql
    sql.exec(TABLE)
    const unheard = { number: 0, heardAt: 0 }
    const nothing = { wanted: 0, waitingSince: 0, slotsShareMax: 1 }
    for (const [accountId, turn] of turns) {
      this.#known.set(accountId, { accountId, ...unheard, ...nothing, turn })
    }
    const query = `select account_id as accountId, wanted, waiting_since as waitingSince,
      slots_share_max as slotsShareMax, turn from waiting_accounts`
    for (const row of sql.exec<Omit<Requester, "number" | "heardAt">>(query)) {
      const requester = { ...row, ...unheard }
      for (const map of [this.#known, this.#waiting]) map.set(row.accountId, requester)
      this.#written.add(row.accountId)
    }
  }

  find(accountId: string): Requester | undefined {
    return this.#known.get(accountId)
  }

  /** Accounts that want a slot. */
  waiting(): Requester[] {
    return [...this.#waiting.values()]
  }

  isAnyWaiting(): boolean {
    return this.#waiting.size > 0
  }

  save(requester: Requester): void {
    const { accountId } = requester
    this.#known.set(accountId, requester)
    if (requester.wanted > 0) this.#waiting.set(accountId, requester)
    else this.#waiting.delete(accountId)
    this.#unwritten.add(accountId)
  }

  /** Forgets those that neither want nor hold a slot and were not heard of since a moment. */
  forget(since: number, holders: ReadonlySet<string>): void {
    for (const { accountId, wanted, heardAt } of this.#known.values()) {
      if (wanted === 0 && heardAt < since && !holders.has(accountId)) this.#known.delete(accountId)
    }
  }

  /** Writes who wants slots now, as far as it has changed. */
  flush(): void {
    for (const accountId of this.#unwritten) {
      const requester = this.#waiting.get(accountId)
      if (requester) this.#write(requester)
      else if (this.#written.delete(accountId)) {
        this.#sql.exec("delete from waiting_accounts where account_id = ?", accountId)
      }
    }
    this.#unwritten.clear()
  }

  #write({ accountId, wanted, waitingSince, slotsShareMax, turn }: Requester): void {
    this.#written.add(accountId)
    this.#sql.exec(UPSERT, accountId, wanted, waitingSince, slotsShareMax, turn)
  }
}
