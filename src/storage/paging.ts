import { and, eq, gt, gte, lt, lte, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"

/** Which rows of a list to read: newest first, those before the id `before` where it is given. */
export type Page = {
  limit: number
  offset: number
  before?: string | undefined
  /** Moments in milliseconds; rows made in between, both ends excluded. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
}

/** Rows that are listed by their states, by an index that ends with the state and the id. */
type ListedTable = SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn; state: SQLiteColumn }

/**
 * That a row is one of a page of those in some states, at most five, which is how many terms D1 lets
 * a compound select have. Each state is read in the order of the index, and these are merged: what is
 * read is the page and what it skips, however many other rows there are. The caller sorts the page.
 */
export function isOnPage(
  table: ListedTable,
  states: readonly string[],
  { where, page }: { where: SQL | undefined; page: Page },
): SQL {
  const { limit, offset } = page
  const condition = and(where, pageCondition(table, page))
  const terms = states.map(
    (state) =>
      sql`select ${table.id} from ${table} where ${and(eq(table.state, state), condition)}`,
  )
  return sql`${table.id} in (${sql.join(terms, sql` union all `)} order by id desc limit ${limit} offset ${offset})`
}

/** The newest first, by ids. */
export function byNewest({ id }: { id: string }, other: { id: string }): number {
  if (id === other.id) return 0
  return id < other.id ? 1 : -1
}

/** An id is made within so long of the moment that its row says it was created at. */
const ID_SKEW_MS = 60_000

/** The condition of a page; the bounds on ids let the index of the list bound the scan too. */
export function pageCondition(
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

/** The least UUIDv7 of a moment: its first 48 bits are milliseconds. */
function earliestIdAt(moment: number): string {
  const hex = Math.min(Math.max(0, Math.floor(moment)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
