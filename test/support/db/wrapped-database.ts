/**
 * Function that is called in place of each statement or batch. `text` is the SQL of the statement,
 * or `batch`; `ask` runs the statement or batch.
 */
type Around = (text: string, ask: () => Promise<unknown>) => Promise<unknown>

type Method = (...given: unknown[]) => unknown

/** Wraps a database so that `around` is called for each statement and batch. */
export function wrapStatements(database: D1Database, around: Around): D1Database {
  function replace(owner: object, name: string, text: string): void {
    const method = methodOf(owner, name)
    Reflect.set(owner, name, async (...given: unknown[]) => {
      return await around(text, async () => await method(...given))
    })
  }
  function wrap(statement: D1PreparedStatement, text: string): D1PreparedStatement {
    for (const name of ["all", "first", "raw", "run"]) replace(statement, name, text)
    const bind = statement.bind.bind(statement)
    return Object.assign(statement, { bind: (...values: unknown[]) => wrap(bind(...values), text) })
  }
  return new Proxy(database, {
    get(known, name) {
      if (name === "prepare") return (text: string) => wrap(known.prepare(text), text)
      if (name !== "batch") return methodOf(known, String(name))
      return async (some: D1PreparedStatement[]) => {
        return await around("batch", async () => await known.batch(some))
      }
    },
  })
}

function methodOf(owner: object, name: string): Method {
  const method: unknown = Reflect.get(owner, name)
  if (typeof method !== "function") throw new Error(`there is no method ${name}`)
  return (...given): unknown => Reflect.apply(method, owner, given)
}

/**
 * Number of waits of 1 ms. The work of the Worker counts as done if no statement is pending during
 * all of them.
 */
const QUIET_TURNS = 20

/**
 * Wraps a database so that a test can wait for work that the Worker does after its response. The
 * test has no access to the promise that the Worker passes to `waitUntil`.
 */
export function trackPendingStatements(database: D1Database): { DB: D1Database; settle: Settle } {
  const pending = new Set<Promise<unknown>>()
  let isQuiet = true
  const DB = wrapStatements(database, async (_, ask) => {
    isQuiet = false
    const asked = ask()
    pending.add(asked)
    return await asked.finally(() => pending.delete(asked))
  })
  async function settle(): Promise<void> {
    if (isQuiet) return
    isQuiet = true
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = pending.size > 0 ? 0 : quiet + 1) {
      await Promise.allSettled(pending)
      await scheduler.wait(1)
    }
  }
  return { DB, settle }
}

/**
 * Waits until no statement is pending. Resolves at once if no statement was sent since the last
 * call.
 */
type Settle = (this: void) => Promise<void>
