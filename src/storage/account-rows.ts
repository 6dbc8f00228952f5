import { getTableColumns, getTableName, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"
import { z } from "zod"
import { toHex } from "../crypto/hex.ts"
import { runBatch } from "./database.ts"
import type { Database, Statement } from "./database.ts"
import { bytesOf } from "./packed-text.ts"
import { accountPrefix } from "./objects.ts"
import { accounts } from "./schema/accounts.ts"
import type { MoveCursor } from "./schema/accounts.ts"
import { deliveries, deliveryTries } from "./schema/deliveries.ts"
import { files } from "./schema/files.ts"
import { idempotency, jobs, metadataLookups } from "./schema/jobs.ts"
import { receiverOutages } from "./schema/operations.ts"
import { taskInputs, tasks, taskSecrets } from "./schema/tasks.ts"
import { garbage, uploadParts, uploads } from "./schema/uploads.ts"
import { usageDays } from "./schema/usage.ts"

// All rows of an account in the database of its rows, as they are copied to another one and removed.

/** Rows of which a table has some for each of a page of rows of another: by which column, and how these are named. */
type Child = { table: SQLiteTable; by: string; of?: string }

/** Rows of an account in a table, the keys of the index that they are gone through by, and what belongs to them. */
type Unit = {
  /** That of its table, but where a table has several. */
  name?: string
  table: SQLiteTable
  keys: readonly string[]
  isOf: (accountId: string) => SQL
  children?: readonly Child[]
}

function byAccount(accountId: string): SQL {
  return sql`account_id = ${accountId}`
}

/** Files have an index of those that lists show, and one of the others, which say it in these words. */
function isListed(accountId: string): SQL {
  return sql`account_id = ${accountId} and source not in ('fetch', 'transcript') and (object_key is not null or source = 'import')`
}

function isUnlisted(accountId: string): SQL {
  return sql`account_id = ${accountId} and (source in ('fetch', 'transcript') or (object_key is null and source <> 'import'))`
}

function below(column: string) {
  return (accountId: string) => {
    const prefix = accountPrefix(accountId)
    const name = sql.raw(column)
    return sql`${name} >= ${prefix} and ${name} < ${`${prefix}\uffff`}`
  }
}

const TASKS_OF = "select id from tasks where job_id in"

/** The order is that of copying; triggers count what files store. */
const UNITS: readonly Unit[] = [
  {
    table: jobs,
    keys: ["kind", "state", "id"],
    isOf: byAccount,
    children: [
      { table: taskInputs, by: "task_id", of: TASKS_OF },
      { table: taskSecrets, by: "job_id" },
      { table: tasks, by: "job_id" },
    ],
  },
  { table: files, keys: ["state", "id"], isOf: isListed },
  { name: "unlisted files", table: files, keys: ["rowid"], isOf: isUnlisted },
  {
    table: deliveries,
    keys: ["state", "id"],
    isOf: byAccount,
    children: [{ table: deliveryTries, by: "delivery_id" }],
  },
  {
    table: uploads,
    keys: ["object_key", "rowid"],
    isOf: below("object_key"),
    children: [{ table: uploadParts, by: "upload_id" }],
  },
  { table: garbage, keys: ["prefix"], isOf: below("prefix") },
  { table: idempotency, keys: ["key"], isOf: byAccount },
  { table: metadataLookups, keys: ["url_hash"], isOf: byAccount },
  { table: usageDays, keys: ["day", "key_id"], isOf: byAccount },
  { table: receiverOutages, keys: ["receiver"], isOf: byAccount },
]

/** Names of the tables that go with an account, one for each count of `countRows`. */
export const ACCOUNT_TABLES: readonly string[] = UNITS.flatMap(({ table, children = [] }) =>
  [table, ...children.map((child) => child.table)].map(getTableName),
)

const ROWS_OF_PAGE = 100
/** Of the JSON of rows that one statement inserts; D1 takes 2 MB a value, in UTF-8. */
const CHARACTERS_MAX = 500_000

const row = z.record(z.string(), z.union([z.string(), z.number(), z.null(), bytesOf]))
type Row = z.infer<typeof row>

/** An account, and the database that its rows are copied to or removed from. */
type Place = { accountId: string; database: number; sql: Database }

/**
 * Copies a page of the account's rows after those that `cursor` says were copied; answers where to go
 * on, null where all are copied. What is there stays, and nothing is copied to where the account is.
 */
export async function copyPage(
  from: Database,
  to: Place,
  cursor: MoveCursor | null,
): Promise<MoveCursor | null> {
  const unit = unitOf(cursor)
  const page = pageOf(unit, to.accountId, cursor)
  const rows = await readRows(from, unit.table, page)
  const last = rows.at(-1)
  if (!last) return nextUnit(unit)
  const ids = sql`(select id from ${unit.table} where ${upTo(unit, page.condition, last)})`
  const sets: [SQLiteTable, Row[]][] = [[unit.table, rows]]
  for (const child of unit.children ?? []) {
    sets.push([child.table, await readRows(from, child.table, { condition: ofChild(child, ids) })])
  }
  await runBatch(
    to.sql,
    sets.flatMap(([table, some]) => insertRows(to, table, some)),
  )
  return { table: nameOf(unit), after: unit.keys.map((key) => keyOf(last, key)) }
}

/**
 * Removes a page of what is left of an account's rows where it is not; answers where to go on, null
 * where nothing is left.
 */
export async function removePage(
  place: Place,
  cursor: MoveCursor | null,
): Promise<MoveCursor | null> {
  const unit = unitOf(cursor)
  const { table, keys, children = [] } = unit
  const page = pageOf(unit, place.accountId, null)
  const rows = await readRows(place.sql, table, { ...page, columns: keys })
  const last = rows.at(-1)
  if (!last) return nextUnit(unit)
  const some = upTo(unit, page.condition, last)
  const ids = sql`(select id from ${table} where ${some})`
  const isElsewhere = isNotAt(place)
  await runBatch(place.sql, [
    ...children.map((child) =>
      place.sql.delete(child.table).where(sql`${ofChild(child, ids)} and ${isElsewhere}`),
    ),
    place.sql.delete(table).where(sql`${some} and ${isElsewhere}`),
  ])
  return { table: nameOf(unit), after: [] }
}

/** Removes what an account is yet to lose in the bucket and what is on its way there, from where it leaves. */
export async function removeGarbageRows({ accountId, sql: database }: Place): Promise<void> {
  await runBatch(database, [
    database
      .delete(uploadParts)
      .where(sql`upload_id in (select id from uploads where ${below("object_key")(accountId)})`),
    database.delete(uploads).where(below("object_key")(accountId)),
    database.delete(garbage).where(below("prefix")(accountId)),
  ])
}

/** How many rows of an account each table has, in the order of `ACCOUNT_TABLES`. */
export async function countRows(database: Database, accountId: string): Promise<number[]> {
  const counts = UNITS.flatMap(({ table, isOf, children = [] }) => {
    const ids = sql`(select id from ${table} where ${isOf(accountId)})`
    const own = { table, condition: isOf(accountId) }
    const theirs = children.map((child) => ({ table: child.table, condition: ofChild(child, ids) }))
    return [own, ...theirs].map((each) => database.$count(each.table, each.condition))
  })
  return await Promise.all(counts)
}

function unitOf(cursor: MoveCursor | null): Unit {
  const unit = UNITS.find((each) => cursor === null || nameOf(each) === cursor.table)
  if (!unit) throw new Error(`no rows of accounts are in ${cursor?.table}`)
  return unit
}

function nextUnit(unit: Unit): MoveCursor | null {
  const next = UNITS[UNITS.indexOf(unit) + 1]
  return next ? { table: nameOf(next), after: [] } : null
}

function nameOf({ name, table }: Unit): string {
  return name ?? getTableName(table)
}

type Page = {
  condition: SQL
  /** By which columns rows are in order, of at most ROWS_OF_PAGE. */
  order?: SQL
  columns?: readonly string[]
}

function pageOf({ keys, isOf }: Unit, accountId: string, cursor: MoveCursor | null): Page {
  const order = sql.raw(keys.join(", "))
  const own = isOf(accountId)
  if (cursor === null || cursor.after.length === 0) return { condition: own, order }
  const after = sql.join(
    cursor.after.map((value) => sql`${value}`),
    sql`, `,
  )
  return { condition: sql`${own} and (${order}) > (${after})`, order }
}

function upTo({ keys }: Unit, condition: SQL, last: Row): SQL {
  const values = sql.join(
    keys.map((key) => sql`${keyOf(last, key)}`),
    sql`, `,
  )
  return sql`${condition} and (${sql.raw(keys.join(", "))}) <= (${values})`
}

function keyOf(of: Row, key: string): string | number {
  const { [key]: value } = of
  return typeof value === "string" || typeof value === "number" ? value : ""
}

function ofChild({ by, of }: Child, ids: SQL): SQL {
  return of === undefined
    ? sql`${sql.raw(by)} in ${ids}`
    : sql`${sql.raw(by)} in (${sql.raw(of)} ${ids})`
}

async function readRows(
  database: Database,
  table: SQLiteTable,
  { condition, order, columns }: Page,
): Promise<Row[]> {
  const names = sql.raw([...(columns ?? ["rowid", ...columnsOf(table)])].join(", "))
  const limited = order && sql` order by ${order} limit ${ROWS_OF_PAGE}`
  const found = await database.all(
    sql`select ${names} from ${table} where ${condition}${limited ?? sql``}`,
  )
  return z.array(row).parse(found)
}

function columnsOf(table: SQLiteTable): string[] {
  return Object.values(getTableColumns(table)).map(({ name }) => `"${name}"`)
}

/** Statements that insert rows where they are not yet, unless the account is already there. */
function insertRows(place: Place, table: SQLiteTable, rows: Row[]): Statement[] {
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  const values = rows.map((each) => names.map((name) => each[name] ?? null))
  const taken = sql.raw(names.map((_, at) => takenAt(at)).join(", "))
  return chunksOf(values).map((some) => {
    const [only = []] = some
    const own = sql.join(
      only.map((value) => sql`${value}`),
      sql`, `,
    )
    const source =
      some.length === 1
        ? sql`select ${own} where ${isNotAt(place)}`
        : sql`select ${taken} from json_each(${toJson(some)}) where ${isNotAt(place)}`
    return place.sql.insert(table).select(source).onConflictDoNothing()
  })
}

/** JSON in which bytes are an object with their hexadecimal digits. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    return each instanceof Uint8Array ? { bytes: toHex(each) } : each
  })
}

/** What such JSON of a row has at an index, as a value of SQL. */
function takenAt(at: number): string {
  return `iif(json_type(value, '$[${at}]') = 'object', unhex(value ->> '$[${at}].bytes'), value ->> ${at})`
}

/** Groups that are not too long for a statement; a row that is alone goes by values of its own. */
function chunksOf<Value>(values: Value[]): Value[][] {
  const chunks: Value[][] = []
  let characters = Infinity
  for (const value of values) {
    const { length } = toJson(value)
    characters += length
    if (characters > CHARACTERS_MAX) {
      chunks.push([])
      characters = length
    }
    chunks.at(-1)?.push(value)
  }
  return chunks
}

/** That the account's rows are not to be in a database, by the row of the account there. */
function isNotAt({ accountId, database }: Place): SQL {
  return sql`not exists (select 1 from ${accounts} as home where home.id = ${accountId} and home.database = ${database})`
}
