import { getTableColumns, sql } from "drizzle-orm"
import { jobs } from "./schema/jobs.ts"

// Values of rows are short (overflow.ts), so that lists read them as they are, but for those they do not show.

/** Columns of a job in a list, with its request as far as the row has it, or without. */
export function listedJob(request?: "none" | "short") {
  const columns = { ...getTableColumns(jobs), endedTasks: sql<null>`null` }
  return request === "none" ? { ...columns, request: sql<unknown>`null` } : columns
}

/** A job of which a list shows neither what was asked nor what it made. */
export const jobFacts = {
  ...getTableColumns(jobs),
  endedTasks: sql<null>`null`,
  request: sql<unknown>`null`,
  result: sql<null>`null`,
}
