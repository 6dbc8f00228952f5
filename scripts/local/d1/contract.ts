/** A value of a row or a parameter; bytes are an array of numbers, as D1 has them. */
export type Value = string | number | null | number[]

/** A statement with its parameters, as it goes to the database. */
export type Query = { sql: string; values: Value[] }

/** What a statement came to; `rows` hold a value for each of `columns`. */
export type QueryResult = {
  columns: string[]
  rows: Value[][]
  meta: {
    /** Of the statement alone, in milliseconds. */
    duration: number
    /** Rows that it and its triggers changed. */
    changes: number
    last_row_id: number
    changed_db: boolean
    /** Of the whole database, in bytes. */
    size_after: number
    rows_read: number
    rows_written: number
  }
}

/** What became of statements that ran as one transaction. */
export type Answer = { results: QueryResult[] } | { error: string }
