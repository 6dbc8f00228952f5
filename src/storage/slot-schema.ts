/**
 * Makes the tables of a pool, and takes over what earlier versions kept in others. Tables and columns keep
 * the names that deployed objects made them under.
 */
export function createSlotTables(sql: SqlStorage): void {
  sql.exec(`create table if not exists slots (
    slot text primary key, account_id text not null, last_grant integer not null,
    held integer not null default 0)`)
  sql.exec(`create table if not exists waiting_accounts (
    account_id text primary key, wanted integer not null, since integer not null,
    slots_share_max real not null, turn integer not null) without rowid`)
  sql.exec(`create table if not exists unended_slots (
    slot text primary key, failed_at integer)`)
  sql.exec(`create table if not exists unsandboxed_slots (
    slot text primary key, seen_at integer not null)`)
  sql.exec(`create table if not exists outdated_slots (
    slot text primary key, seen_at integer not null)`)
  sql.exec(`create table if not exists unstarted_slots (
    slot text primary key, since integer not null, seen_at integer not null)`)
  takeOver(sql)
}

function takeOver(sql: SqlStorage): void {
  const tables = sql.exec("select 1 from sqlite_master where name in ('grants', 'askers', 'waits')")
  if (tables.toArray().length < 3) return
  sql.exec("alter table slots add column held integer not null default 0")
  sql.exec(`insert into slots (slot, account_id, last_grant, held)
    select slot, account_id, id, 1 from grants where true
    on conflict do update set account_id = excluded.account_id, last_grant = excluded.last_grant,
    held = 1`)
  sql.exec(`insert or replace into waiting_accounts (account_id, wanted, since, slots_share_max, turn)
    select account_id, want, coalesce(since, heard_at), coalesce(slots_share_max, 1), turn
    from askers left join waits using (account_id) where want > 0`)
  for (const table of ["grants", "askers", "waits"]) sql.exec(`drop table ${table}`)
}
