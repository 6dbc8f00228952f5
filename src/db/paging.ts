import { and, eq, gt, gte, lt, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"
import { jobMetadata } from "./schema/jobs.ts"

/**
 * Page of a list that is sorted from the newest row to the oldest. With `before`, the page contains
 * only rows with a lower id.
 */
export type Page = {
  limit: number
  offset: number
  before?: string | undefined
  /** Bounds of the rows' creation time, in milliseconds, both exclusive. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
}

/** Table whose lists filter by state. It needs an index that ends with state and id. */
type ListedTable = SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn; state: SQLiteColumn }

/**
 * Returns the SQL condition that selects a page of the rows in some states, at most five (D1's
 * limit for the terms of a compound SELECT). SQLite reads the states from the index in order and
 * merges them, so that it reads no row after the page. The caller sorts the result.
 */
export function statesPageCondition(
  table: ListedTable,
  states: readonly string[],
  { where, page }: { where: SQL | undefined; page: Page },
): SQL {
  const { limit, offset } = page
  const condition = and(where, pageBoundsCondition(table, page))
  const terms = states.map(
    (state) =>
      sql`select ${table.id} from ${table} where ${and(eq(table.state, state), condition)}`,
  )
  return sql`${table.id} in (${sql.join(terms, sql` union all `)} order by id desc limit ${limit} offset ${offset})`
}

/** Key and value of a job's metadata, by which lists filter. */
export type MetadataPair = { name: string; value: string }

/**
 * Returns the SQL condition that selects a page of the rows in some states, at most five (D1's
 * limit for the terms of a compound SELECT). SQLite reads the states from the index in order and
 * merges them, so that it reads no row after the page. The caller sorts the result.
 */
export function metadataPageCondition(
  table: ListedTable,
  states: readonly string[],
  query: { where: SQL | undefined; page: Page; accountId: string; pair: MetadataPair },
): SQL {
  const { where, page, accountId, pair } = query
  const { limit, offset } = page
  const { jobId, name, value } = jobMetadata
  const isListed = and(
    eq(jobMetadata.accountId, accountId),
    eq(name, pair.name),
    eq(value, pair.value),
    pageBoundsCondition({ id: jobId, createdAt: table.createdAt }, page),
    sql`${table.state} in (select value from json_each(${JSON.stringify(states)}))`,
    where,
  )
  // SQLite never reorders the tables of a CROSS JOIN.
  return sql`${table.id} in (select ${jobId} from ${jobMetadata} cross join ${table} on ${table.id} = ${jobId} where ${isListed} order by ${jobId} desc limit ${limit} offset ${offset})`
}

/** Comparator that sorts rows by id, the newest first. */
export function compareNewestFirst({ id }: { id: string }, other: { id: string }): number {
  if (id === other.id) return 0
  return id < other.id ? 1 : -1
}

/** Largest difference between the time in a row's id and the row's creation time. */
const ID_SKEW_MS = 60_000

/**
 * Returns the SQL condition for the bounds of a page. Bounds of the creation time also bound the
 * ids, so that the index limits the scan.
 */
export function pageBoundsCondition(
  { id, createdAt }: { id: SQLiteColumn; createdAt: SQLiteColumn },
  { before, createdAfter, createdBefore }: Page,
): SQL | undefined {
  return and(
    before === undefined ? undefined : lt(id, before),
    ...(createdAfter === undefined
      ? []
      : [gt(createdAt, createdAfter), gte(id, earliestIdAt(createdAfter - ID_SKEW_MS))]),
    ...(createdBefore === undefined
      ? []
      : [lt(createdAt, createdBefore), lte(id, earliestIdAt(createdBefore + ID_SKEW_MS))]),
  )
}

/** Returns the lowest UUIDv7 of a time. The first 48 bits of a UUIDv7 are milliseconds. */
function earliestIdAt(moment: number): string {
  const hex = Math.min(Math.max(0, Math.floor(moment)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
