import { drizzle } from "drizzle-orm/d1"
import type { DrizzleD1Database } from "drizzle-orm/d1"
import type { BatchItem } from "drizzle-orm/batch"

export type Database = DrizzleD1Database

/** One statement of an atomic batch. */
export type Statement = BatchItem<"sqlite">

/** D1 refuses statements with more bound parameters than this. */
const BOUND_PARAMETERS_MAX = 100

export function openDatabase(d1: D1Database): Database {
  return drizzle(d1)
}

/** Runs statements in one transaction, in their order; an empty list does nothing. */
export async function runBatch(database: Database, statements: Statement[]): Promise<unknown[]> {
  const [first, ...rest] = statements
  if (!first) return []
  return await database.batch([first, ...rest])
}

/** Splits rows so that an insert of each group stays under D1's limit of bound parameters. */
export function groupRows<Row>(rows: Row[], columns: number): Row[][] {
  const size = Math.floor(BOUND_PARAMETERS_MAX / columns)
  const groups: Row[][] = []
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size))
  return groups
}
