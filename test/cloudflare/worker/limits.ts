import { QUERY_MS_MAX, QUEUE_DELAY_SECONDS_MAX } from "../switches.ts"

type Method = (...given: unknown[]) => unknown

/**
 * Has every queue of this isolate refuse messages that are to be delayed for longer than the
 * platform takes.
 */
export function limitDelays(queue: Queue<unknown>): void {
  wrap(Object.getPrototypeOf(queue), "send", (send) => (body, options) => {
    const delay: unknown =
      typeof options === "object" && options && Reflect.get(options, "delaySeconds")
    if (Number(delay ?? 0) > QUEUE_DELAY_SECONDS_MAX) {
      throw new Error(`Queue send failed: ${String(delay)} seconds of delay are too many`)
    }
    return send(body, options)
  })
}

/** Has every query of D1 of this isolate fail that takes longer than the platform lets it. */
export function limitQueries(database: D1Database): void {
  const statement: unknown = Object.getPrototypeOf(database.prepare("select 1"))
  for (const name of ["first", "run", "all", "raw"]) wrap(statement, name, limitTime)
  wrap(Object.getPrototypeOf(database), "batch", limitTime)
}

function limitTime(query: Method): Method {
  return async (...given) => {
    const ended = new AbortController()
    const late = scheduler.wait(QUERY_MS_MAX, ended).then((): never => {
      throw new Error("D1_ERROR: D1 DB exceeded its time limit and was reset.")
    })
    return await Promise.race([query(...given), late]).finally(() => ended.abort())
  }
}

function wrap(owner: unknown, name: string, change: (method: Method) => Method): void {
  if (typeof owner !== "object" || owner === null) throw new Error("the binding has no class")
  const method: unknown = Reflect.get(owner, name)
  if (!isMethod(method)) throw new Error(`the binding has no ${name}`)
  Object.defineProperty(owner, name, {
    value(this: unknown, ...given: unknown[]): unknown {
      return change((...passed) => Reflect.apply(method, this, passed))(...given)
    },
  })
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function"
}
