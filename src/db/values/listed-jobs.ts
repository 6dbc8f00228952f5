import { getTableColumns, sql } from "drizzle-orm"
import { jobs } from "../schema/jobs.ts"

// Columns that lists of jobs read. Long values lie in R2 (overflow.ts), so that a row is short.
// Lists do not read columns that they do not show.

/** Returns the columns of a job for a list. With `none`, the columns do not include the request. */
export function getListedJobColumns(request?: "none" | "short") {
  // Each column has an alias of its own: D1 returns a row of a batch as an object whose keys are
  // the names of the columns, so two columns with one name would become one.
  const columns = { ...getTableColumns(jobs), endedTasks: sql<null>`null`.as("ended_tasks") }
  return request === "none" ? { ...columns, request: sql<unknown>`null`.as("request") } : columns
}

/** Columns of a job for lists that show neither requests nor results. */
export const jobColumnsWithoutRequestAndResult = {
  ...getTableColumns(jobs),
  endedTasks: sql<null>`null`,
  request: sql<unknown>`null`,
  result: sql<null>`null`,
}
