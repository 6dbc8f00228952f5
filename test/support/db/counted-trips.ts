import { env } from "cloudflare:workers"

/** Round trip to D1: the verb and table of each of its statements, separated by commas. */
export type D1RoundTrip = string

type Method = (...given: unknown[]) => unknown

const SENDING = ["first", "run", "all", "raw"]

/** SQL text of each prepared D1 statement, by the statement object. */
const texts = new WeakMap<object, string>()
let noted: D1RoundTrip[] | null = null
let isWatched = false

/** Records the round trips to D1 of this isolate and its Durable Objects during `work`. */
export async function recordD1RoundTrips(work: () => Promise<void>): Promise<D1RoundTrip[]> {
  watch()
  const trips: D1RoundTrip[] = []
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
  const [database, session] = [env.DB, env.DB.withSession("first-unconstrained")].map(getPrototype)
  const statements = getPrototype(env.DB.prepare("select 1"))
  for (const preparing of [database, session]) {
    observeMethodCalls(requireObject(preparing), "prepare", (made, [sql]) => {
      texts.set(requireObject(made), String(sql))
    })
  }
  observeMethodCalls(statements, "bind", (made, _, from) => {
    texts.set(requireObject(made), texts.get(requireObject(from)) ?? "")
  })
  // Observes `batch` of sessions only, because `D1Database.batch` calls the method of a session.
  observeMethodCalls(requireObject(session), "batch", (_, [batch]) => {
    note(Array.isArray(batch) ? batch.map((each: unknown) => nameOf(requireObject(each))) : [])
  })
  for (const name of SENDING) {
    observeMethodCalls(statements, name, (_, __, statement) =>
      note([nameOf(requireObject(statement))]),
    )
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
export function observeMethodCalls(
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

export function getPrototype(of: object): object {
  return requireObject(Object.getPrototypeOf(of))
}

export function requireObject(value: unknown): object {
  if (typeof value !== "object" || value === null) throw new Error("this is no object")
  return value
}
