/** Account that requested slots of a pool, and the account's last request. */
export type SlotRequester = {
  accountId: string
  /** Number of the account's last slot request, by which the pool recognizes outdated requests. */
  number: number
  wanted: number
  /**
   * Time since which the account wants a slot, or the time of its last allocation if that is later.
   */
  waitingSince: number
  /** Share of the slots that the account may hold while other accounts wait. */
  slotsShareMax: number
  heardAt: number
  /** Number of the account's last allocation; 0 if the account had no allocation. */
  turn: number
}

const TABLE = `create table if not exists waiting_accounts (
  account_id text primary key, wanted integer not null, waiting_since integer not null,
  slots_share_max real not null, turn integer not null) without rowid`

/** Inserts or updates the row of a waiting account. Writes nothing if no column changes. */
const UPSERT = `insert into waiting_accounts
  (account_id, wanted, waiting_since, slots_share_max, turn) values (?, ?, ?, ?, ?)
  on conflict do update set wanted = excluded.wanted, waiting_since = excluded.waiting_since,
  slots_share_max = excluded.slots_share_max, turn = excluded.turn
  where (wanted, waiting_since, slots_share_max, turn)
  is not (excluded.wanted, excluded.waiting_since, excluded.slots_share_max, excluded.turn)`

/**
 * Accounts that requested slots of a pool. `flush` stores the accounts that still want a slot.
 * Other accounts are kept in memory only. After a restart, the parameter `turns` restores the
 * number of each account's last allocation.
 */
export class SlotRequesters {
  readonly #sql: SqlStorage
  readonly #known = new Map<string, SlotRequester>()
  readonly #waiting = new Map<string, SlotRequester>()
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
    for (const row of sql.exec<Omit<SlotRequester, "number" | "heardAt">>(query)) {
      const requester = { ...row, ...unheard }
      for (const map of [this.#known, this.#waiting]) map.set(row.accountId, requester)
      this.#written.add(row.accountId)
    }
  }

  find(accountId: string): SlotRequester | undefined {
    return this.#known.get(accountId)
  }

  /** Returns accounts that want a slot. */
  waiting(): SlotRequester[] {
    return [...this.#waiting.values()]
  }

  isAnyWaiting(): boolean {
    return this.#waiting.size > 0
  }

  save(requester: SlotRequester): void {
    const { accountId } = requester
    this.#known.set(accountId, requester)
    if (requester.wanted > 0) this.#waiting.set(accountId, requester)
    else this.#waiting.delete(accountId)
    this.#unwritten.add(accountId)
  }

  /**
   * Forgets accounts that neither want nor hold a slot and have sent no request since the time
   * `since`.
   */
  forget(since: number, holders: ReadonlySet<string>): void {
    for (const { accountId, wanted, heardAt } of this.#known.values()) {
      if (wanted === 0 && heardAt < since && !holders.has(accountId)) this.#known.delete(accountId)
    }
  }

  /**
   * Writes the changed accounts that want a slot, and deletes the rows of accounts that no longer
   * want a slot.
   */
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

  #write({ accountId, wanted, waitingSince, slotsShareMax, turn }: SlotRequester): void {
    this.#written.add(accountId)
    this.#sql.exec(UPSERT, accountId, wanted, waitingSince, slotsShareMax, turn)
  }
}
