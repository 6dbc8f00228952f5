import type { Answer, Query, QueryResult, Value } from "./contract.ts"

// Run in workerd as the object that has the file of a D1 database, in place of Miniflare's.

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
 * A D1 database. Its answers leave once the disk has what they say: all that is done in one turn of the
 * event loop is written together, so that what writes waits for whatever has arrived with it.
 */
export class D1DatabaseObject {
  readonly #storage: Storage
  readonly #gathered: (() => void)[] = []
  #changes = 0

  constructor({ storage }: { storage: Storage }) {
    this.#storage = storage
  }

  /** Runs statements in their order, all or none. */
  async query(queries: Query[]): Promise<Answer> {
    if (queries.every(({ sql }) => isRead(sql))) return this.#answer(queries)
    return await new Promise((resolve) => {
      this.#gathered.push(() => resolve(this.#answer(queries)))
      if (this.#gathered.length === 1) setTimeout(() => this.#runGathered(), 0)
    })
  }

  #runGathered(): void {
    for (const run of this.#gathered.splice(0)) run()
  }

  #answer(queries: Query[]): Answer {
    try {
      return { results: this.#runAll(queries) }
    } catch (error) {
      // What was undone counts among the changes of the connection.
      this.#changes = this.#countChanges().changes
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }

  #runAll(queries: Query[]): QueryResult[] {
    const [only] = queries
    // SQLite itself does all or nothing of one statement; a text may hold several.
    if (only && queries.length === 1 && !only.sql.includes(";")) return [this.#run(only)]
    return this.#storage.transactionSync(() => queries.map((query) => this.#run(query)))
  }

  #run({ sql, values }: Query): QueryResult {
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

  /** Rows that the connection changed so far. */
  #countChanges(): { changes: number; last_row_id: number } {
    const cursor = this.#storage.sql.exec("select total_changes(), last_insert_rowid()")
    const [[changes, last_row_id] = []] = cursor.raw()
    return { changes: Number(changes), last_row_id: Number(last_row_id) }
  }
}

function isRead(sql: string): boolean {
  return /^\s*select\b/i.test(sql)
}

function toSql(value: Value): string | number | null | ArrayBuffer {
  return Array.isArray(value) ? new Uint8Array(value).buffer : value
}

function fromSql(value: unknown): Value {
  if (value instanceof ArrayBuffer) return Array.from(new Uint8Array(value))
  return typeof value === "string" || typeof value === "number" ? value : null
}
