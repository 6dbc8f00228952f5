import { isPlausibleGrant } from "../contract/grant.ts"

export type Grant = { id: number; slot: string; accountId: string }

export type Grants = ReturnType<typeof openGrants>

/** The pool's own tables: grants given, and who wants how many. */
export function openGrants(sql: SqlStorage) {
  sql.exec(`create table if not exists grants (
    id integer primary key, slot text not null unique, account_id text not null)`)
  sql.exec(`create table if not exists askers (
    account_id text primary key, ask integer not null, want integer not null,
    heard_at integer not null, turn integer not null)`)
  sql.exec(`create table if not exists slots (
    slot text primary key, account_id text not null, last_grant integer not null)`)
  return { ...grantTable(sql), ...askerTable(sql), ...slotTable(sql) }
}

function grantTable(sql: SqlStorage) {
  const columns = `id, slot, account_id as accountId`
  return {
    all: () => sql.exec<Grant>(`select ${columns} from grants order by id`).toArray(),
    of: (accountId: string) =>
      sql
        .exec<Grant>(`select ${columns} from grants where account_id = ? order by id`, accountId)
        .toArray(),
    give(grant: Grant): void {
      sql.exec(
        "insert into grants (id, slot, account_id) values (?, ?, ?)",
        grant.id,
        grant.slot,
        grant.accountId,
      )
    },
    /** Frees a grant, if it is this account's. */
    free(id: number, accountId: string): void {
      sql.exec("delete from grants where id = ? and account_id = ?", id, accountId)
    },
  }
}

type Asker = { accountId: string; ask: number; want: number; heardAt: number; turn: number }

function askerTable(sql: SqlStorage) {
  const columns = `account_id as accountId, ask, want, heard_at as heardAt, turn`
  return {
    asker: (accountId: string) =>
      sql.exec<Asker>(`select ${columns} from askers where account_id = ?`, accountId).toArray()[0],
    /** The account whose turn is next among those that want a slot. */
    nextAsker: () =>
      sql
        .exec<Asker>(`select ${columns} from askers where want > 0 order by turn limit 1`)
        .toArray()[0],
    /** Accounts that hold a grant or want one and were not heard since a moment. */
    silentAskers: (since: number) =>
      sql
        .exec<{ accountId: string }>(
          `select account_id as accountId from askers where heard_at < ? and
           (want > 0 or account_id in (select account_id from grants))`,
          since,
        )
        .toArray()
        .map((row) => row.accountId),
    saveAsker(asker: Asker): void {
      sql.exec(
        `insert or replace into askers (account_id, ask, want, heard_at, turn)
         values (?, ?, ?, ?, ?)`,
        asker.accountId,
        asker.ask,
        asker.want,
        asker.heardAt,
        asker.turn,
      )
    },
  }
}

function slotTable(sql: SqlStorage) {
  return {
    /** The account that had a slot last; none where it is fresh. */
    lastHolder: (slot: string) =>
      sql
        .exec<{ accountId: string }>(
          "select account_id as accountId from slots where slot = ?",
          slot,
        )
        .toArray()[0]?.accountId ?? null,
    noteHolder(grant: Grant): void {
      sql.exec(
        "insert or replace into slots (slot, account_id, last_grant) values (?, ?, ?)",
        grant.slot,
        grant.accountId,
        grant.id,
      )
    },
    /** The highest number that a grant has had of those that are plausible. */
    lastGrant: (now: number) =>
      sql
        .exec<{ id: number }>("select last_grant as id from slots order by id desc")
        .toArray()
        .find(({ id }) => isPlausibleGrant(id, now))?.id ?? 0,
  }
}
