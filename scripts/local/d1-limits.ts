import { AsyncLocalStorage } from "node:async_hooks"

// The emulated D1 takes more than Cloudflare's does. Run inside the Worker, this refuses what that
// one refuses, so that nothing works on one machine alone.

/** The documented limits of D1; those of bytes are of UTF-8. */
const LIMITS = {
  valueBytes: 2_000_000,
  rowBytes: 2_000_000,
  parameters: 100,
  statementBytes: 100_000,
  statementsOfInvocation: 1_000,
}

/** Of one unit of a JavaScript string. */
const UTF8_BYTES_MAX = 3

type PreparedStatement = {
  bind(...values: unknown[]): PreparedStatement
  first(...given: unknown[]): unknown
  run(): unknown
  all(): unknown
  raw(...given: unknown[]): unknown
}

/** What of a D1 binding is used here. */
export type LimitedDatabase = {
  prepare(sql: string): PreparedStatement
  batch(statements: PreparedStatement[]): Promise<unknown>
}

/** The statements that one invocation of the Worker has run so far. */
const invocations = new AsyncLocalStorage<{ statements: number }>()
/** The most statements that any invocation has run since `takePeak` was called. */
let peak = 0
const encoder = new TextEncoder()
const limited = new WeakSet<object>()

/** Runs a function as an invocation of the Worker of its own. */
export function asInvocation<Value>(work: () => Value): Value {
  return invocations.run({ statements: 0 }, work)
}

/** The most statements that an invocation has run since the last call, for tests of what takes many. */
export function takePeak(): number {
  const taken = peak
  peak = 0
  return taken
}

/**
 * Has every statement of D1 in this isolate keep to the limits, and counts those of each handler
 * and each method of an object that the module of the Worker exports.
 */
export function limitWorker(worker: object, database: LimitedDatabase): void {
  limitStatements(database)
  for (const exported of Object.values(worker)) {
    countInvocations(exported)
    if (typeof exported === "function") countInvocations(Reflect.get(exported, "prototype"))
  }
}

/** Changes the binding's classes, so that whatever environment has the binding has it limited. */
function limitStatements(database: LimitedDatabase): void {
  const databases = prototypeOf(database)
  const statements = prototypeOf(database.prepare("select 1"))
  if (limited.has(databases)) return
  limited.add(databases)
  before(databases, "prepare", (sql) => checkStatement(String(sql)))
  before(databases, "batch", (batch) => countStatements(Array.isArray(batch) ? batch.length : 0))
  before(statements, "bind", (...values) => checkValues(values))
  for (const name of ["first", "run", "all", "raw"]) {
    before(statements, name, () => countStatements(1))
  }
}

function prototypeOf(of: object): object {
  const prototype: unknown = Object.getPrototypeOf(of)
  if (typeof prototype !== "object" || prototype === null) throw new Error("it has no class")
  return prototype
}

/** Has a method call a check with its arguments first. */
function before(owner: object, name: string, check: (...given: unknown[]) => void): void {
  const method = methodOf(owner, name)
  if (!method) throw new Error(`the D1 binding has no method ${name}`)
  Object.defineProperty(owner, name, {
    ...Object.getOwnPropertyDescriptor(owner, name),
    value(this: unknown, ...given: unknown[]): unknown {
      check(...given)
      return Reflect.apply(method, this, given)
    },
  })
}

function countInvocations(handlers: unknown): void {
  if (typeof handlers !== "object" || handlers === null || limited.has(handlers)) return
  limited.add(handlers)
  for (const name of Object.getOwnPropertyNames(handlers)) {
    const method = methodOf(handlers, name)
    if (!method || name === "constructor") continue
    Object.defineProperty(handlers, name, {
      ...Object.getOwnPropertyDescriptor(handlers, name),
      value(this: unknown, ...given: unknown[]): unknown {
        return asInvocation((): unknown => Reflect.apply(method, this, given))
      },
    })
  }
}

type Method = (...given: unknown[]) => unknown

function methodOf(owner: object, name: string): Method | null {
  const value: unknown = Object.getOwnPropertyDescriptor(owner, name)?.value
  return isMethod(value) ? value : null
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}

function checkStatement(sql: string): void {
  if (sql.length * UTF8_BYTES_MAX <= LIMITS.statementBytes) return
  limit("the text of a statement", encoder.encode(sql).length, LIMITS.statementBytes)
}

function checkValues(values: unknown[]): void {
  limit("bound parameters of a statement", values.length, LIMITS.parameters)
  if (bytesAtMost(values) <= Math.min(LIMITS.valueBytes, LIMITS.rowBytes)) return
  let bytes = 0
  for (const value of values) {
    const own = bytesOf(value)
    limit("a value", own, LIMITS.valueBytes)
    bytes += own
  }
  limit("a row", bytes, LIMITS.rowBytes)
}

/** More than their bytes, and quicker to tell. */
function bytesAtMost(values: unknown[]): number {
  return values.reduce((sum: number, value) => {
    return sum + (typeof value === "string" ? value.length * UTF8_BYTES_MAX : bytesOf(value))
  }, 0)
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return encoder.encode(value).length
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? value.byteLength : 0
}

function countStatements(count: number): void {
  const invocation = invocations.getStore()
  if (!invocation) return
  invocation.statements += count
  peak = Math.max(peak, invocation.statements)
  limit("statements of an invocation", invocation.statements, LIMITS.statementsOfInvocation)
}

function limit(what: string, size: number, max: number): void {
  if (size > max) throw new Error(`D1_ERROR: ${what}: ${size}, and D1 takes ${max}`)
}
