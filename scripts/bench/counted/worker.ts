import { AsyncLocalStorage } from "node:async_hooks"
import { OPERATION_COUNTS_PATH } from "./counts.ts"
import type { OperationCounts } from "./counts.ts"

// This module runs inside the Worker before the Worker's own code. It counts the operations that
// Cloudflare would bill or limit.

type Method = (...callArguments: unknown[]) => unknown
type Cursor = { rowsRead: number; rowsWritten: number }
type Calls = { open: number; since: number }

const STORES = ["put", "list"]
const LOOKS = ["get", "head"]
const counts: OperationCounts = {}
const watched = new WeakSet<object>()
const calls = new WeakMap<object, Calls>()
/**
 * Durable Object whose method is running. A call from a Durable Object to itself is not billed, so
 * that it does not count as a request.
 */
const inside = new AsyncLocalStorage<unknown>()

/**
 * Replaces methods of the Worker and its bindings by methods that count: requests by caller, calls
 * of Durable Objects with their rows and time, queue messages, and operations of R2.
 */
export function countWorkerOperations(worker: object, env: object): void {
  for (const name of Object.keys(worker)) {
    const exported: unknown = Reflect.get(worker, name)
    if (typeof exported === "function") countObjects(name, fieldOf(exported, "prototype"))
    else if (name === "default" && isObject(exported)) countHandlers(exported, env)
  }
  countBucket(prototypeOf(fieldOf(env, "MEDIA")))
  countQueue("JOBS", fieldOf(env, "JOBS"))
  countQueue("WEBHOOKS", fieldOf(env, "WEBHOOKS"))
}

function add(name: string, amount = 1): void {
  counts[name] = (counts[name] ?? 0) + amount
}

function countHandlers(handlers: object, env: object): void {
  wrapMethod(handlers, "fetch", (_, [request], call) => {
    const { pathname } = new URL(request instanceof Request ? request.url : "http://nowhere")
    if (pathname === OPERATION_COUNTS_PATH) return tell(env)
    add(`worker.${pathname.startsWith("/io/") ? "runner" : "caller"}_requests`)
    return call()
  })
  wrapMethod(handlers, "queue", (_, [batch], call) => {
    add("worker.queue_batches")
    add("queue.received", isObject(batch) ? sizeOf(Reflect.get(batch, "messages")) : 0)
    return call()
  })
  wrapMethod(handlers, "scheduled", (_, __, call) => {
    add("worker.crons")
    return call()
  })
}

async function tell(env: object): Promise<Response> {
  const database: unknown = Reflect.get(env, "DB")
  const all = { ...counts }
  for (const [name, sql] of Object.entries({ d1: "select 'counts'", states: BY_STATE })) {
    for (const row of await rowsOf(database, sql)) {
      for (const [column, value] of Object.entries(row)) all[`${name}.${column}`] = Number(value)
    }
  }
  return Response.json(all)
}

/** SQL query of the numbers of all jobs, succeeded jobs, open jobs and delivered webhooks. */
const BY_STATE = `/* of the bench */ select (select count(*) from jobs) as jobs,
  (select count(*) from jobs where state = 'succeeded') as succeeded_jobs,
  (select count(*) from jobs where state in ('waiting', 'running')) as open_jobs,
  (select count(*) from deliveries where state = 'delivered') as delivered`

async function rowsOf(database: unknown, sql: string): Promise<object[]> {
  const statement = callOf(database, "prepare", sql)
  const answer: unknown = await callOf(statement, "all")
  const rows: unknown = isObject(answer) ? Reflect.get(answer, "results") : null
  return Array.isArray(rows) ? rows.filter(isObject) : []
}

function countObjects(className: string, methods: object): void {
  for (const name of Object.getOwnPropertyNames(methods)) {
    const value: unknown = Object.getOwnPropertyDescriptor(methods, name)?.value
    if (name === "constructor" || !isMethod(value)) continue
    wrapMethod(methods, name, (object, _, call) => {
      if (!isObject(object) || inside.getStore() === object) return call()
      add(`object.${className}.${name === "alarm" ? "alarms" : "requests"}`)
      watchStorage(className, object)
      return inside.run(object, () => during(className, object, call))
    })
  }
}

/**
 * Measures the time in which at least one call of a Durable Object is open, because Cloudflare
 * bills that time.
 */
function during(className: string, object: object, call: () => unknown): unknown {
  const known = calls.get(object) ?? { open: 0, since: 0 }
  calls.set(object, known)
  if (known.open === 0) known.since = Date.now()
  known.open += 1
  function end(): void {
    known.open -= 1
    if (known.open === 0) add(`object.${className}.ms`, Date.now() - known.since)
  }
  const answer = call()
  if (answer instanceof Promise) void answer.then(end, end)
  else end()
  return answer
}

function watchStorage(className: string, object: object): void {
  const storage = fieldOf(fieldOf(object, "ctx"), "storage")
  const sql = fieldOf(storage, "sql")
  if (watched.has(sql)) return
  watched.add(sql)
  // Wraps the `sql` storage of each Durable Object separately, so that each statement is counted
  // for the class of its object.
  observeMethod(sql, "exec", (answer) => {
    queueMicrotask(() => {
      if (!isCursor(answer)) return
      add(`object.${className}.rows_read`, answer.rowsRead)
      add(`object.${className}.rows_written`, answer.rowsWritten)
    })
  })
  observeMethod(storage, "setAlarm", () => add(`object.${className}.rows_written`))
}

function countBucket(bucket: object): void {
  for (const name of STORES)
    wrapMethod(bucket, name, (_, __, call) => countCall("r2.class_a", call))
  for (const name of LOOKS) wrapMethod(bucket, name, (_, __, call) => countCall("r2.class_b", call))
  wrapMethod(bucket, "delete", (_, __, call) => countCall("r2.deletes", call))
  wrapMethod(bucket, "createMultipartUpload", async (_, __, call) => {
    return withCountedParts(await countCall("r2.class_a", call))
  })
  wrapMethod(bucket, "resumeMultipartUpload", (_, __, call) => withCountedParts(call()))
}

function withCountedParts(upload: unknown): unknown {
  if (!isObject(upload)) throw new Error("R2 made no upload")
  observeMethod(upload, "uploadPart", () => add("r2.class_a"))
  observeMethod(upload, "complete", () => add("r2.class_a"))
  return upload
}

function countCall(name: string, call: () => unknown): unknown {
  add(name)
  return call()
}

function countQueue(name: string, queue: object): void {
  observeMethod(queue, "send", () => add(`queue.${name}`))
  observeMethod(queue, "sendBatch", (_, [messages]) => add(`queue.${name}`, sizeOf(messages)))
}

function sizeOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

/**
 * Replaces a method by `pass`, which gets the object, the arguments, and `call`, a function that
 * runs the original method.
 */
function wrapMethod(
  owner: object,
  name: string,
  pass: (self: unknown, callArguments: unknown[], call: () => unknown) => unknown,
): void {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`there is no method ${name}`)
  Object.defineProperty(owner, name, {
    ...Object.getOwnPropertyDescriptor(owner, name),
    value(this: unknown, ...callArguments: unknown[]): unknown {
      return pass(this, callArguments, () => Reflect.apply(method, this, callArguments))
    },
  })
}

/**
 * Replaces a method of an object by a method that also passes its result and arguments to `see`.
 */
function observeMethod(
  owner: object,
  name: string,
  see: (answer: unknown, callArguments: unknown[]) => void,
): void {
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`there is no method ${name}`)
  Object.defineProperty(owner, name, {
    value(...callArguments: unknown[]): unknown {
      const answer = Reflect.apply(method, owner, callArguments)
      see(answer, callArguments)
      return answer
    },
    configurable: true,
    writable: true,
  })
}

function callOf(owner: unknown, name: string, ...callArguments: unknown[]): unknown {
  const method: unknown = isObject(owner) ? Reflect.get(owner, name) : null
  if (!isMethod(method)) throw new Error(`there is no method ${name}`)
  return Reflect.apply(method, owner, callArguments)
}

function prototypeOf(of: object): object {
  const prototype: unknown = Object.getPrototypeOf(of)
  if (!isObject(prototype)) throw new Error("it has no class")
  return prototype
}

function fieldOf(owner: object, name: string): object {
  const value: unknown = Reflect.get(owner, name)
  if (!isObject(value)) throw new Error(`there is no ${name}`)
  return value
}

function isCursor(value: unknown): value is Cursor {
  return isObject(value) && "rowsWritten" in value
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}
