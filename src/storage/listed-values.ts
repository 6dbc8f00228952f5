import { getTableColumns, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { files } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"

// What lists read of values that may be long. The size of a text stands before it in its row, so that
// octet_length() leaves pages of a long one where they are.

/** A value of more bytes is not read whole by a list. */
const LISTED_BYTES_MAX = 16 * 1024
/** Of a request that is longer, its fields of at most so many bytes are. */
const LISTED_FIELD_BYTES_MAX = 2 * 1024

/** The request as it is, or its short fields and `truncated`. */
const shortRequest = sql<unknown>`case when typeof(${jobs.request}) = 'blob' or (${jobs.requestObjectKey} is null and octet_length(${jobs.request}) <= ${LISTED_BYTES_MAX}) then ${jobs.request} else (select json_set(json_group_object(key, json(${jobs.request} -> fullkey)), '$.truncated', json('true')) from json_each(${jobs.request}) where octet_length(${jobs.request} -> fullkey) <= ${LISTED_FIELD_BYTES_MAX}) end`

/** The result as it is, or without the members of bundles and what was said. */
const shortResult = sql`case when octet_length(${jobs.result}) > ${LISTED_BYTES_MAX} then json_set(json_remove(${jobs.result}, '$.transcribed.text'), '$.outputs', (select json_group_array(json_remove(value, '$.files')) from json_each(${jobs.result}, '$.outputs'))) else ${jobs.result} end`

const jobColumns = getTableColumns(jobs)
const result = shortResult.mapWith(jobs.result)

/** Columns of a job in a list, with its request as far as that is short, as it is, or not at all. */
export function listedJob(request?: "none" | "short") {
  return { ...jobColumns, endedTasks: sql<null>`null`, request: requestColumn(request), result }
}

function requestColumn(request?: "none" | "short"): SQL<unknown> {
  if (request === "none") return sql<unknown>`null`
  return (request === "short" ? shortRequest : sql<unknown>`${jobs.request}`).mapWith(jobs.request)
}

/** A job of which a list shows neither what was asked nor what it made. */
export const jobFacts = {
  ...jobColumns,
  endedTasks: sql<null>`null`,
  request: sql<unknown>`null`,
  result: sql<null>`null`,
}

/** A bundle without its members. */
export const bundleHead = sql`json_remove(${files.bundle}, '$.members')`.mapWith(files.bundle)

/** Columns of a file in a list: without members of its bundle, and without streams of a long probe. */
export const listedFile = {
  ...getTableColumns(files),
  bundle: bundleHead,
  probe:
    sql`case when octet_length(${files.probe}) > ${LISTED_BYTES_MAX} then json_set(${files.probe}, '$.streams', json('[]'), '$.format', json('{}')) else ${files.probe} end`.mapWith(
      files.probe,
    ),
}
