import type { D1Response, D1Query, D1QueryResult, D1Value } from "./contract.ts"

// This module is the Durable Object of a D1 database in workerd. It replaces Miniflare's Durable
// Object.

type Cursor = {
  columnNames: string[]
  rowsRead: number
  rowsWritten: number
  raw(): Iterable<unknown[]>
}

type Storage = {
  sql: { exec(sql: string, ...values: unknown[]): Cursor; databaseSize: number }
  transactionSync<Result>(work: () => Result): Result
}

/**
 * D1 database as a Durable Object. The runtime sends a result only after its writes are on the
 * disk, and flushes all writes of one turn of the event loop together. Queries that write are
 * therefore collected and run in one turn, which needs fewer flushes.
 */
export class D1DatabaseObject {
  readonly #storage: Storage
  readonly #gathered: (() => void)[] = []
  #changes = 0

  constructor({ storage }: { storage: Storage }) {
    this.#storage = storage
  }

  /** Runs SQL statements in order, as one transaction. */
  async query(queries: D1Query[]): Promise<D1Response> {
    if (queries.every(({ sql }) => isRead(sql))) return this.#answer(queries)
    return await new Promise((resolve) => {
      this.#gathered.push(() => resolve(this.#answer(queries)))
      if (this.#gathered.length === 1) setTimeout(() => this.#runGathered(), 0)
    })
  }

  #runGathered(): void {
    for (const run of this.#gathered.splice(0)) run()
  }

  #answer(queries: D1Query[]): D1Response {
    try {
      return { results: this.#runAll(queries) }
    } catch (error) {
      // Updates the count of changed rows, because SQLite's count also includes changes that were
      // rolled back.
      this.#changes = this.#countChanges().changes
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }

  #runAll(queries: D1Query[]): D1QueryResult[] {
    const [only] = queries
    // A single statement needs no transaction, because it is atomic in SQLite. A text with a
    // semicolon may contain several statements.
    if (only && queries.length === 1 && !only.sql.includes(";")) return [this.#run(only)]
    return this.#storage.transactionSync(() => queries.map((query) => this.#run(query)))
  }

  #run({ sql, values }: D1Query): D1QueryResult {
    const storage = this.#storage.sql
    const startedAt = performance.now()
    const cursor = storage.exec(sql, ...values.map(toSql))
    const rows = Array.from(cursor.raw(), (row) => row.map(fromSql))
    const duration = performance.now() - startedAt
    const { rowsRead: rows_read, rowsWritten: rows_written } = cursor
    const written = rows_written > 0 ? this.#written() : { changes: 0, last_row_id: 0 }
    const size_after = storage.databaseSize
    const changed_db = rows_written > 0
    const meta = { duration, ...written, changed_db, size_after, rows_read, rows_written }
    return { columns: cursor.columnNames, rows, meta }
  }

  #written(): { changes: number; last_row_id: number } {
    const { changes, last_row_id } = this.#countChanges()
    const before = this.#changes
    this.#changes = changes
    return { changes: changes - before, last_row_id }
  }

  /** Returns the number of rows that the connection has changed so far, and the last row id. */
  #countChanges(): { changes: number; last_row_id: number } {
    const cursor = this.#storage.sql.exec("select total_changes(), last_insert_rowid()")
    const [[changes, last_row_id] = []] = cursor.raw()
    return { changes: Number(changes), last_row_id: Number(last_row_id) }
  }
}

function isRead(sql: string): boolean {
  return /^\s*select\b/i.test(sql)
}

function toSql(value: D1Value): string | number | null | ArrayBuffer {
  return Array.isArray(value) ? new Uint8Array(value).buffer : value
}

function fromSql(value: unknown): D1Value {
  if (value instanceof ArrayBuffer) return Array.from(new Uint8Array(value))
  return typeof value === "string" || typeof value === "number" ? value : null
}
