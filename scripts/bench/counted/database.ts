import type { Answer, Query, Value } from "../../local/d1/contract.ts"
import { D1DatabaseObject as Database } from "../../local/d1/database.ts"

// Run in workerd in place of the object that has the file of a D1 database, which it is, too.

/** The statement that asks for what was counted; it and those with the mark count for nothing. */
const COUNTS = "select 'counts'"
const MARK = "/* of the bench */"

/** Of all objects that were there, as an idle one is removed and made again. */
const counts = { trips: 0, statements: 0, rows_read: 0, rows_written: 0, ms: 0, failed: 0 }

/** Counts what it is asked: a trip is one call, whatever number of statements it brings. */
export class D1DatabaseObject extends Database {
  override async query(queries: Query[]): Promise<Answer> {
    if (queries[0]?.sql === COUNTS)
      return tell(await super.query([{ sql: "select 1", values: [] }]))
    const answer = await super.query(queries)
    if (queries[0]?.sql.startsWith(MARK)) return answer
    counts.trips += 1
    counts.statements += queries.length
    if ("error" in answer) counts.failed += 1
    else for (const { meta } of answer.results) add(meta)
    return answer
  }
}

function add(meta: { rows_read: number; rows_written: number; duration: number }): void {
  counts.rows_read += meta.rows_read
  counts.rows_written += meta.rows_written
  counts.ms += meta.duration
}

function tell(answer: Answer): Answer {
  if ("error" in answer) return answer
  return {
    results: answer.results.map(({ meta }) => {
      const told = { ...counts, bytes: meta.size_after }
      const rows: Value[][] = [Object.values(told)]
      return { columns: Object.keys(told), rows, meta }
    }),
  }
}
