import { env } from "cloudflare:workers"
import { z } from "zod"

/** SQL statement that was sent to D1, and the number of rows that D1 read for it. */
export type StatementReads = { sql: string; rows: number }

type Method = (...given: unknown[]) => unknown

const meta = z.object({ meta: z.object({ rows_read: z.number() }) })

const texts = new WeakMap<object, string>()
let noted: StatementReads[] | null = null
let isWatched = false

/**
 * Records the statements of this isolate and its Durable Objects during `work`, with the rows that
 * D1 reads.
 */
export async function recordRowsRead(work: () => Promise<void>): Promise<StatementReads[]> {
  watch()
  const readings: StatementReads[] = []
  noted = readings
  try {
    await work()
  } finally {
    noted = null
  }
  return readings
}

function watch(): void {
  if (isWatched) return
  isWatched = true
  const databases = classOf(env.DB)
  const statements = classOf(env.DB.prepare("select 1"))
  const all = methodOf(statements, "all")
  replace(databases, "prepare", (prepare, self, given) => {
    const statement = Reflect.apply(prepare, self, given)
    return known(statement, String(given[0]))
  })
  replace(statements, "bind", (bind, self, given) => {
    return known(Reflect.apply(bind, self, given), textOf(self))
  })
  replace(databases, "batch", async (batch, self, given) => {
    const answers: unknown = await Reflect.apply(batch, self, given)
    const [asked] = z.tuple([z.array(z.unknown())]).parse(given)
    for (const [at, answer] of z.array(z.unknown()).parse(answers).entries()) {
      note(textOf(asked[at]), answer)
    }
    return answers
  })
  for (const name of ["run", "all"]) {
    replace(statements, name, async (send, self, given) => {
      const answer: unknown = await Reflect.apply(send, self, given)
      note(textOf(self), answer)
      return answer
    })
  }
  // The D1 method `raw` does not report the number of rows read. A SELECT statement therefore runs
  // by `raw` and again by `all`. Any other statement runs by `all` only, whose rows contain each
  // column once.
  replace(statements, "raw", async (raw, self, given) => {
    const isRead = !/^(?:insert|update|delete)\b/i.test(textOf(self))
    const answer: unknown = isRead ? await Reflect.apply(raw, self, given) : null
    const counted: unknown = await Reflect.apply(all, self, [])
    note(textOf(self), counted)
    if (isRead) return answer
    const { results } = z.object({ results: z.array(z.looseObject({})) }).parse(counted)
    return results.map((row) => Object.values(row))
  })
}

function note(sql: string, answer: unknown): void {
  noted?.push({ sql, rows: meta.parse(answer).meta.rows_read })
}

function known(statement: unknown, text: string): unknown {
  texts.set(asObject(statement), text)
  return statement
}

function textOf(statement: unknown): string {
  return texts.get(asObject(statement)) ?? ""
}

function replace(
  owner: object,
  name: string,
  by: (method: Method, self: unknown, given: unknown[]) => unknown,
): void {
  const method = methodOf(owner, name)
  Object.defineProperty(owner, name, {
    ...Object.getOwnPropertyDescriptor(owner, name),
    value(this: unknown, ...given: unknown[]): unknown {
      return by(method, this, given)
    },
  })
}

function methodOf(owner: object, name: string): Method {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`the D1 binding has no method ${name}`)
  return method
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}

function classOf(of: object): object {
  return asObject(Object.getPrototypeOf(of))
}

function asObject(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new Error("this is no object")
  return value
}
