import { and, eq, gt, gte, lt, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"
import { jobMetadata } from "./schema/jobs.ts"

/**
 * Query of a page in a list that is sorted from the newest row to the oldest. With `before`, the
 * page contains only rows with a lower id.
 */
export type ListPageQuery = {
  limit: number
  offset: number
  before?: string | undefined
  /** Exclusive bounds of the rows' creation time, in milliseconds since 1970. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
}

/**
 * Table whose lists can be filtered by state. The table needs an index that ends with state and id.
 */
type ListedTable = SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn; state: SQLiteColumn }

/**
 * Returns the SQL condition that selects a page of rows in at most five states (D1's limit for the
 * terms of a compound SELECT). SQLite reads each state from the index in order and merges the
 * states, so that no row after the page is read. The caller sorts the result.
 */
export function buildStatesPageCondition(
  table: ListedTable,
  states: readonly string[],
  { where, page }: { where: SQL | undefined; page: ListPageQuery },
): SQL {
  const { limit, offset } = page
  const condition = and(where, pageBoundsCondition(table, page))
  const terms = states.map(
    (state) =>
      sql`select ${table.id} from ${table} where ${and(eq(table.state, state), condition)}`,
  )
  return sql`${table.id} in (${sql.join(terms, sql` union all `)} order by id desc limit ${limit} offset ${offset})`
}

/** Key and value in a job's metadata, by which a list is filtered. */
export type MetadataFilter = { name: string; value: string }

/**
 * Returns the SQL condition that selects a page of rows in the given states whose job metadata
 * contain a key-value pair. SQLite finds the pair in `job_metadata`, and reads the rows of `table`
 * by id. The caller sorts the result.
 */
export function metadataPageCondition(
  table: ListedTable,
  states: readonly string[],
  query: { where: SQL | undefined; page: ListPageQuery; accountId: string; pair: MetadataFilter },
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
  // SQLite never reorders the tables of a CROSS JOIN, so that `job_metadata` is read first.
  return sql`${table.id} in (select ${jobId} from ${jobMetadata} cross join ${table} on ${table.id} = ${jobId} where ${isListed} order by ${jobId} desc limit ${limit} offset ${offset})`
}

/**
 * Compares two rows by id, for a sort in descending order of ids, so that the newest row is first.
 */
export function compareNewestFirst({ id }: { id: string }, other: { id: string }): number {
  if (id === other.id) return 0
  return id < other.id ? 1 : -1
}

/**
 * Largest difference, in milliseconds, that a row's creation time may have from the time in its
 * UUIDv7.
 */
const ID_SKEW_MS = 60_000

/**
 * Returns the SQL condition for the bounds of a page. Bounds of the creation time also bound the
 * ids, so that SQLite scans only a part of the index.
 */
export function pageBoundsCondition(
  { id, createdAt }: { id: SQLiteColumn; createdAt: SQLiteColumn },
  { before, createdAfter, createdBefore }: ListPageQuery,
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

/**
 * Returns the lowest UUIDv7 of a time. The first 48 bits of a UUIDv7 are a time in milliseconds.
 */
function earliestIdAt(moment: number): string {
  const hex = Math.min(Math.max(0, Math.floor(moment)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
