import { env } from "cloudflare:workers"
import { observeMethodCalls, requireObject, getPrototype } from "./counted-trips.ts"
import type { SentStatement } from "./watched-database.ts"

/** SQL text of each prepared D1 statement, by the statement object. */
const texts = new WeakMap<object, string>()
let asked: SentStatement[] | null = null
let rowsRead: (() => number)[] | null = null
const watched = new Set<object>()

/** Records the D1 statements to which this isolate binds values during `work`. */
export async function recordStatements(work: () => Promise<void>): Promise<SentStatement[]> {
  const databases = getPrototype(env.DB)
  if (!watched.has(databases)) {
    watched.add(databases)
    observeMethodCalls(
      databases,
      "prepare",
      (made, [sql]) => void texts.set(requireObject(made), String(sql)),
    )
    observeMethodCalls(getPrototype(env.DB.prepare("select 1")), "bind", (_, values, from) => {
      asked?.push({ sql: texts.get(requireObject(from)) ?? "", values })
    })
  }
  const noted: SentStatement[] = []
  asked = noted
  try {
    await work()
  } finally {
    asked = null
  }
  return noted
}

/** Runs SELECT statements again, and returns the number of rows that D1 reads for them. */
export async function countRowsReadByStatements(
  statements: readonly SentStatement[],
): Promise<number> {
  const reads = statements.filter(({ sql }) => /^\s*(?:select|with)\b/i.test(sql))
  const rows = reads.map(async ({ sql, values }) => {
    const { meta } = await env.DB.prepare(sql)
      .bind(...values)
      .all()
    return meta.rows_read
  })
  return (await Promise.all(rows)).reduce((sum, read) => sum + read, 0)
}

/**
 * Counts the rows that the Durable Objects of this isolate read from their own tables during
 * `work`.
 */
export async function countStorageRowsRead(
  sql: SqlStorage,
  work: () => Promise<void>,
): Promise<number> {
  const storages = getPrototype(sql)
  if (!watched.has(storages)) {
    watched.add(storages)
    observeMethodCalls(storages, "exec", (cursor) => {
      rowsRead?.push(() => Number(Reflect.get(requireObject(cursor), "rowsRead")))
    })
  }
  const noted: (() => number)[] = []
  rowsRead = noted
  try {
    await work()
  } finally {
    rowsRead = null
  }
  // A cursor has its final count only after all of its rows were read. The counts are therefore
  // read at the end.
  return noted.reduce((sum, read) => sum + read(), 0)
}
