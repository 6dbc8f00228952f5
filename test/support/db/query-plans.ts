import { env } from "cloudflare:workers"
import { afterAll, expect } from "vitest"
import { ALLOWED_QUERY_PLANS } from "./allowed-plans.ts"

/** Pattern of the service's statements, which quote all names. Statements in tests quote none. */
const IS_OF_SERVICE = /^(?:select|insert|update|delete|with)\b[^]*"/i
const HAS_NUMBERED = /\?\d/

/**
 * Pattern of a plan step that scans a whole table or index, or sorts. Does not match scans of
 * values in the statement or of its subqueries, because a subquery has its own steps.
 */
const IS_WIDE = /^SCAN (?!\(|json_each|CONSTANT ROW|\d+-ROW VALUES|.* VIRTUAL TABLE)|TEMP B-TREE/

type Method = (...given: unknown[]) => unknown

const texts = new Set<string>()
const found = new Set<string>()
const watched = new WeakSet<object>()
let isWatching = false

/**
 * Makes a test file of the Worker fail if a statement of D1 or of a Durable Object scans a table or
 * sorts, unless `ALLOWED_QUERY_PLANS` allows it. Nobody runs ANALYZE, so that plans do not depend
 * on the rows in the tables.
 */
export function checkQueryPlans(worker: object): void {
  if (!isWatching) watch(worker)
  isWatching = true
  texts.clear()
  found.clear()
  afterAll(async () => {
    for (const text of texts) {
      if (IS_OF_SERVICE.test(text) && !HAS_NUMBERED.test(text)) await explain(text)
    }
    expect([...found].filter((plan) => !isAllowed(plan))).toEqual([])
  })
}

function watch(worker: object): void {
  around(prototypeOf(env.DB), "prepare", (prepare) => {
    return function noted(this: unknown, ...given: unknown[]): unknown {
      texts.add(String(given[0]))
      return Reflect.apply(prepare, this, given)
    }
  })
  for (const name of Object.keys(worker)) {
    const exported: unknown = Reflect.get(worker, name)
    const methods: unknown = isMethod(exported) ? Reflect.get(exported, "prototype") : null
    if (isObject(methods)) watchObjects(methods)
  }
}

async function explain(text: string): Promise<void> {
  const values = Array.from(text.matchAll(/\?/g), () => 1)
  const { results } = await env.DB.prepare(`explain query plan ${text}`)
    .bind(...values)
    .all()
  for (const row of results) note(String(row["detail"]), text)
}

/** Makes Durable Objects of a class record the query plan of each statement at its first run. */
function watchObjects(methods: object): void {
  for (const name of Object.getOwnPropertyNames(methods)) {
    const known: unknown = Object.getOwnPropertyDescriptor(methods, name)?.value
    if (name === "constructor" || !isMethod(known)) continue
    around(methods, name, (method) => {
      return function noted(this: unknown, ...given: unknown[]): unknown {
        const state: unknown = isObject(this) ? Reflect.get(this, "ctx") : null
        if (isState(state)) watchSql(state.storage.sql)
        return Reflect.apply(method, this, given)
      }
    })
  }
}

function watchSql(sql: SqlStorage): void {
  const owner = prototypeOf(sql)
  if (watched.has(owner)) return
  watched.add(owner)
  around(owner, "exec", (exec) => {
    return function noted(this: unknown, ...given: unknown[]): unknown {
      const [text, ...values] = given
      if (typeof text === "string" && !texts.has(text) && isExplained(text)) {
        texts.add(text)
        const words = [`explain query plan ${text}`, ...values]
        for (const step of stepsOf(Reflect.apply(exec, this, words))) note(step, text)
      }
      return Reflect.apply(exec, this, given)
    }
  })
}

function isExplained(text: string): boolean {
  return /^\s*(?:select|insert|update|delete|with)\b/i.test(text)
}

function stepsOf(cursor: unknown): string[] {
  if (!isCursor(cursor)) throw new Error("this is no cursor")
  return cursor.toArray().map((row) => String(row["detail"]))
}

function note(step: string, text: string): void {
  if (IS_WIDE.test(step)) found.add(`${step}: ${text.replaceAll(/\s+/g, " ").trim()}`)
}

function isAllowed(plan: string): boolean {
  return ALLOWED_QUERY_PLANS.some((allowed) => allowed.plan.test(plan))
}

function around(owner: object, name: string, wrap: (method: Method) => Method): void {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`there is no method ${name}`)
  const descriptor = Object.getOwnPropertyDescriptor(owner, name)
  Object.defineProperty(owner, name, { ...descriptor, value: wrap(method) })
}

function prototypeOf(of: object): object {
  const prototype: unknown = Object.getPrototypeOf(of)
  if (!isObject(prototype)) throw new Error("it has no class")
  return prototype
}

function isCursor(
  value: unknown,
): value is Pick<SqlStorageCursor<Record<string, string>>, "toArray"> {
  return isObject(value) && "toArray" in value
}

function isState(value: unknown): value is DurableObjectState {
  return isObject(value) && "storage" in value
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}
