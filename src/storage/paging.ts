import { and, gt, gte, lt, lte } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn } from "drizzle-orm/sqlite-core"

/** Which rows of a list to read: newest first, those before the id `before` where it is given. */
export type Page = {
  limit: number
  offset: number
  before?: string | undefined
  /** Moments in milliseconds; rows made in between, both ends excluded. */
  createdAfter?: number | undefined
  createdBefore?: number | undefined
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
