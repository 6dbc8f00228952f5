/** Value of a column or parameter. Bytes are an array of numbers, as in D1. */
export type D1Value = string | number | null | number[]

/** SQL statement with its parameters, as the binding sends it to the database's object. */
export type D1Query = { sql: string; values: D1Value[] }

/** Result of an SQL statement. Each row has a value for each of `columns`. */
export type D1QueryResult = {
  columns: string[]
  rows: D1Value[][]
  meta: {
    /** Duration of the statement, in milliseconds. */
    duration: number
    /** Number of rows that the statement and its triggers changed. */
    changes: number
    last_row_id: number
    changed_db: boolean
    /** Size of the whole database after the statement, in bytes. */
    size_after: number
    rows_read: number
    rows_written: number
  }
}

/**
 * Results of statements that ran as one transaction, or the error that rolled the transaction back.
 */
export type D1Response = { results: D1QueryResult[] } | { error: string }
