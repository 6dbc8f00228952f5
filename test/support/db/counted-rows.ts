import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"

/**
 * Numbers of rows that Durable Objects wrote. The map's keys are the verb and table of the SQL
 * statement, or the name of the storage method.
 */
export type WrittenRows = ReadonlyMap<string, number>

type Method = (...given: unknown[]) => unknown

let noted: Map<string, number> | null = null
let isWatched = false

/**
 * Counts the rows that all Durable Objects of this isolate write during `work`, as Cloudflare bills
 * them: with index entries, and one row for each alarm that is set. Leaves out the creation of
 * tables.
 */
export async function countStorageRowsWritten(work: () => Promise<unknown>): Promise<WrittenRows> {
  await watch()
  const rows = new Map<string, number>()
  noted = rows
  try {
    await work()
  } finally {
    noted = null
  }
  return rows
}

export function sumWrittenRows(rows: WrittenRows): number {
  return [...rows.values()].reduce((sum, count) => sum + count, 0)
}

/** Makes the storage classes, which all Durable Objects share, record their writes. */
async function watch(): Promise<void> {
  if (isWatched) return
  isWatched = true
  await runInDurableObject(env.POOL.getByName("counted rows"), (_, { storage }) => {
    around(classOf(storage.sql), "exec", (cursor, [sql]) => {
      const statement = /^\s*(insert|update|delete)\b(?:.*?\b(?:into|from))?\s+(\w+)/is.exec(
        String(sql),
      )
      const { rowsWritten } = asCursor(cursor)
      if (statement) note(statement.slice(1).join(" "), rowsWritten)
    })
    around(classOf(storage.kv), "put", (_, [key]) => note(`put ${String(key)}`, 1))
    around(classOf(storage.kv), "delete", (was, [key]) =>
      note(`delete ${String(key)}`, was === true ? 1 : 0),
    )
    around(classOf(storage), "put", (_, [key]) => note(`put ${String(key)}`, 1))
    for (const name of ["setAlarm", "deleteAlarm"]) {
      around(classOf(storage), name, () => note(name, 1))
    }
  })
}

function note(what: string, rows: number): void {
  if (noted && rows > 0) noted.set(what, (noted.get(what) ?? 0) + rows)
}

function around(
  owner: object,
  name: string,
  see: (answer: unknown, given: unknown[]) => void,
): void {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`the storage of an object has no method ${name}`)
  Object.defineProperty(owner, name, {
    ...Object.getOwnPropertyDescriptor(owner, name),
    value(this: unknown, ...given: unknown[]): unknown {
      const answer = Reflect.apply(method, this, given)
      see(answer, given)
      return answer
    },
  })
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}

function asCursor(value: unknown): { rowsWritten: number } {
  const isCursor = typeof value === "object" && value !== null && "rowsWritten" in value
  return { rowsWritten: isCursor ? Number(value.rowsWritten) : 0 }
}

function classOf(of: object): object {
  const found: unknown = Object.getPrototypeOf(of)
  if (typeof found !== "object" || found === null) throw new Error("this is no object")
  return found
}
