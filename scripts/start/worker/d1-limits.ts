import { AsyncLocalStorage } from "node:async_hooks"

// This module runs inside the Worker on one machine. It applies the limits of Cloudflare's D1 to
// the emulated D1, so that no code works only on one machine.

/** Documented limits of D1. Texts are measured in UTF-8 bytes. */
const LIMITS = {
  valueBytes: 2_000_000,
  rowBytes: 2_000_000,
  parameters: 100,
  statementBytes: 100_000,
  statementsOfInvocation: 1_000,
}

/** Maximum number of UTF-8 bytes for one code unit of a JavaScript string. */
const UTF8_BYTES_MAX = 3

type PreparedStatement = {
  bind(...values: unknown[]): PreparedStatement
  first(...given: unknown[]): unknown
  run(): unknown
  all(): unknown
  raw(...given: unknown[]): unknown
}

/** Methods of a D1 binding to which the limits apply. */
export type LimitedD1Methods = {
  prepare(sql: string): PreparedStatement
  batch(statements: PreparedStatement[]): Promise<unknown>
}

/**
 * Number of D1 statements that the current invocation of the Worker has run. Cloudflare limits this
 * number.
 */
const invocations = new AsyncLocalStorage<{ statements: number }>()
/** Highest number of statements of an invocation since `takePeakStatementCount` was last called. */
let peak = 0
const encoder = new TextEncoder()
const limited = new WeakSet<object>()

/** Runs a function as a separate invocation of the Worker, with its own count of D1 statements. */
export function runAsInvocation<Value>(work: () => Value): Value {
  return invocations.run({ statements: 0 }, work)
}

/**
 * Returns the highest number of D1 statements of an invocation since the last call. Only tests use
 * this number.
 */
export function takePeakStatementCount(): number {
  const taken = peak
  peak = 0
  return taken
}

/**
 * Applies D1's limits to every statement in this isolate. Counts statements for each call of an
 * exported handler of the Worker, or of a method of an exported Durable Object.
 */
export function applyD1Limits(worker: object, database: LimitedD1Methods): void {
  limitStatements(database)
  for (const exported of Object.values(worker)) {
    countInvocations(exported)
    if (typeof exported === "function") countInvocations(Reflect.get(exported, "prototype"))
  }
}

/**
 * Changes the methods of the D1 binding's classes, so that the binding is limited in every
 * environment.
 */
function limitStatements(database: LimitedD1Methods): void {
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

/** Makes a method call `check` with the method's arguments first. */
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
        return runAsInvocation((): unknown => Reflect.apply(method, this, given))
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

/**
 * Returns an upper bound of the size of values in bytes. The bound is faster to compute than the
 * size.
 */
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
