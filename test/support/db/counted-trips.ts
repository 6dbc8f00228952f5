import { env } from "cloudflare:workers"

/** Round trip to D1: the verb and table of each of its statements, separated by commas. */
export type Trip = string

type Method = (...given: unknown[]) => unknown

const SENDING = ["first", "run", "all", "raw"]

/** SQL texts of prepared statements. */
const texts = new WeakMap<object, string>()
let noted: Trip[] | null = null
let isWatched = false

/** Records the round trips to D1 of this isolate and its Durable Objects during `work`. */
export async function countTrips(work: () => Promise<void>): Promise<Trip[]> {
  watch()
  const trips: Trip[] = []
  noted = trips
  try {
    await work()
  } finally {
    noted = null
  }
  return trips
}

/**
 * Makes the classes of the D1 binding, which all users of the database share, record their calls.
 */
function watch(): void {
  if (isWatched) return
  isWatched = true
  const [database, session] = [env.DB, env.DB.withSession("first-unconstrained")].map(classOf)
  const statements = classOf(env.DB.prepare("select 1"))
  for (const preparing of [database, session]) {
    around(asObject(preparing), "prepare", (made, [sql]) => {
      texts.set(asObject(made), String(sql))
    })
  }
  around(statements, "bind", (made, _, from) => {
    texts.set(asObject(made), texts.get(asObject(from)) ?? "")
  })
  // `D1Database.batch` calls the method `batch` of a session.
  around(asObject(session), "batch", (_, [batch]) => {
    note(Array.isArray(batch) ? batch.map((each: unknown) => nameOf(asObject(each))) : [])
  })
  for (const name of SENDING) {
    around(statements, name, (_, __, statement) => note([nameOf(asObject(statement))]))
  }
}

function note(statements: string[]): void {
  noted?.push(statements.join(", "))
}

function nameOf(statement: object): string {
  const text = withoutGroups((texts.get(statement) ?? "").replaceAll('"', ""))
  const [, verb = "", table = ""] =
    /^\s*(insert|update|delete|select)\b(?:.*?\b(?:into|from))?\s+(\w+)/is.exec(text) ?? []
  return `${verb} ${table}`
}

/**
 * Removes all parentheses with their content from a statement, because they may contain another
 * statement.
 */
function withoutGroups(text: string): string {
  const without = text.replaceAll(/\([^()]*\)/g, "")
  return without === text ? text : withoutGroups(without)
}

/**
 * Replaces a method of a class so that each call passes its result, arguments and `this` to `see`.
 */
export function around(
  owner: object,
  name: string,
  see: (answer: unknown, given: unknown[], from: unknown) => void,
): void {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`the D1 binding has no method ${name}`)
  Object.defineProperty(owner, name, {
    ...Object.getOwnPropertyDescriptor(owner, name),
    value(this: unknown, ...given: unknown[]): unknown {
      const answer = Reflect.apply(method, this, given)
      see(answer, given, this)
      return answer
    },
  })
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}

export function classOf(of: object): object {
  return asObject(Object.getPrototypeOf(of))
}

export function asObject(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new Error("this is no object")
  return value
}
