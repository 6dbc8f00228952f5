import type { D1Response, D1Query, D1QueryResult, D1Value } from "./contract.ts"

// This module makes a D1 binding in workerd, in place of workerd's own module, which uses HTTP. The
// binding implements the used part of D1's interface, with D1's results and errors.

type Namespace = { getByName(name: string): { query(queries: D1Query[]): Promise<D1Response> } }

type Rows = { success: true; results: Record<string, D1Value>[]; meta: D1QueryResult["meta"] }

/**
 * Makes the D1 binding of the database `name`, which is a Durable Object in the namespace
 * `objects`.
 */
export function makeD1Binding({ objects, name }: { objects: Namespace; name: string }) {
  return new D1Database(async (queries) => {
    // Gets a new stub for each call, because a request must not use the stub of another request.
    const answer = await objects.getByName(name).query(queries).catch(toAnswer)
    if ("results" in answer) return answer.results
    throw new Error(`D1_ERROR: ${answer.error}`, { cause: new Error(answer.error) })
  })
}

function toAnswer(error: unknown): D1Response {
  return { error: error instanceof Error ? error.message : String(error) }
}

type Send = (queries: D1Query[]) => Promise<D1QueryResult[]>

class D1Database {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  prepare(sql: string): D1PreparedStatement {
    return new D1PreparedStatement(this.#send, { sql, values: [] })
  }

  /**
   * Returns the database itself, because a D1 session only matters for a database with replicas.
   */
  withSession(): D1Database {
    return this
  }

  async batch(statements: D1PreparedStatement[]): Promise<Rows[]> {
    const results = await this.#send(statements.map(({ query }) => query))
    return results.map(toRows)
  }

  /** Runs SQL statements from a text with one statement per line. */
  async exec(sql: string): Promise<{ count: number; duration: number }> {
    const lines = sql.trim().split("\n")
    const results = await this.#send(lines.map((line) => ({ sql: line, values: [] })))
    const duration = results.reduce((sum, { meta }) => sum + meta.duration, 0)
    return { count: results.length, duration }
  }
}

class D1PreparedStatement {
  readonly #send: Send
  readonly query: D1Query

  constructor(send: Send, query: D1Query) {
    this.#send = send
    this.query = query
  }

  bind(...values: unknown[]): D1PreparedStatement {
    return new D1PreparedStatement(this.#send, { ...this.query, values: values.map(toValue) })
  }

  async first(column?: string): Promise<unknown> {
    const [row] = toRows(await this.#result()).results
    if (!row) return null
    if (column === undefined) return row
    if (column in row) return row[column]
    const cause = new Error("Column not found")
    throw new Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, { cause })
  }

  async run(): Promise<Rows> {
    return toRows(await this.#result())
  }

  async all(): Promise<Rows> {
    return toRows(await this.#result())
  }

  async raw({ columnNames = false } = {}): Promise<D1Value[][]> {
    const { columns, rows } = await this.#result()
    return columnNames ? [columns, ...rows] : rows
  }

  async #result(): Promise<D1QueryResult> {
    const [result] = await this.#send([this.query])
    if (!result) throw new Error("D1_ERROR: no result")
    return result
  }
}

function toRows({ columns, rows, meta }: D1QueryResult): Rows {
  const results = rows.map((row) => {
    return Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null]))
  })
  return { success: true, results, meta }
}

function toValue(value: unknown): D1Value {
  if (typeof value === "string" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)]
  if (ArrayBuffer.isView(value)) {
    return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]
  }
  if (isBytes(value)) return value
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported`)
}

function isBytes(value: unknown): value is number[] {
  return (
    Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 0 && each < 256)
  )
}
