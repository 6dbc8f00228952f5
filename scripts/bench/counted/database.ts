import type { D1Response, D1Query, D1Value } from "../../start/worker/d1/contract.ts"
import { D1DatabaseObject as Database } from "../../start/worker/d1/database.ts"

// Replaces the Durable Object of a D1 database in workerd, and counts its queries.

/**
 * Statement with which the benchmark reads the counts of queries. Leaves the counts unchanged, as
 * do the benchmark's other statements, which begin with `MARK`.
 */
const COUNTS = "select 'counts'"
const MARK = "/* of the bench */"

/**
 * Counts of queries to D1. A variable of the module holds them, because workerd evicts an idle
 * Durable Object, which would lose them.
 */
const counts = { trips: 0, statements: 0, rows_read: 0, rows_written: 0, ms: 0, failed: 0 }

/**
 * D1 database that counts its queries. Each call counts as one trip to D1, however many statements
 * the call has.
 */
export class D1DatabaseObject extends Database {
  override async query(queries: D1Query[]): Promise<D1Response> {
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

function tell(answer: D1Response): D1Response {
  if ("error" in answer) return answer
  return {
    results: answer.results.map(({ meta }) => {
      const row = { ...counts, bytes: meta.size_after }
      const rows: D1Value[][] = [Object.values(row)]
      return { columns: Object.keys(row), rows, meta }
    }),
  }
}
