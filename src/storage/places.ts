import { z } from "zod"
import type { Env } from "../env.ts"
import { firstDatabaseOf } from "../ids.ts"
import { MOVE_STATES } from "./schema/states.ts"
import type { MoveState } from "./schema/states.ts"

/** What of the environment says which databases there are. */
export type DatabasesEnv = Pick<Env, "DB"> &
  Partial<Pick<Env, "DATABASES" | "MOVE_WAIT_SECONDS" | `DB_${number}`>>

/** Where an account's rows are, and what may be done with them there. */
type Place = { database: number; access: "all" | "read" | "none" }

type Move = { from: number; to: number; state: MoveState }

type Known = { readAt: number; version: number; moves: ReadonlyMap<string, Move> }

const MOVE_WAIT_SECONDS = 40
/** What waits for a move asks again so often, and no longer than that. */
const ASK_EVERY_MS = 500
const WAIT_MS_MAX = 10_000

/** Values only: workerd lets no request wait for a promise of another. */
const known = new WeakMap<D1Database, Known>()

/** A statement that has to wait until the move of an account is over. */
class MovingError extends Error {
  override name = "MovingError"
}

/** Whether an error says that rows are not to be written, or read, since an account is being moved. */
export function isMoving(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof MovingError) return true
  return false
}

/** How many databases there are. */
export function countDatabases({ DATABASES = "1" }: DatabasesEnv): number {
  return Number(DATABASES)
}

/** How long a step of a move waits for those who do not know of it, in milliseconds. */
export function moveWaitMs({ MOVE_WAIT_SECONDS: seconds }: DatabasesEnv): number {
  return Number(seconds ?? MOVE_WAIT_SECONDS) * 1000
}

/** The binding of a database by its number; throws where the deployment has none. */
export function bindingOf(env: DatabasesEnv, database: number): D1Database {
  const binding = database === 1 ? env.DB : env[`DB_${database}`]
  if (binding && database <= countDatabases(env)) return binding
  throw new Error(`there is no database ${database}: DATABASES is ${countDatabases(env)}`)
}

/** The database in which an account's rows may be read or written, once no move is in the way. */
export async function findPlace(
  env: DatabasesEnv,
  accountId: string,
  access: Access,
): Promise<number> {
  return countDatabases(env) === 1 ? 1 : await waitForPlace(env, accountId, access)
}

/** A database that is, at each statement, the one that has the account's rows then, as `view` has it. */
export function placedDatabase(
  env: DatabasesEnv,
  accountId: string,
  view: (binding: D1Database) => D1Database = (binding) => binding,
): D1Database {
  return deferred(env.DB, async (access) => {
    return view(bindingOf(env, await waitForPlace(env, accountId, access)))
  })
}

/** A database with rows of many accounts, which nobody may write while one is moved from or to it. */
export function sharedDatabase(env: DatabasesEnv, database: number): D1Database {
  return deferred(bindingOf(env, database), async (access) => {
    const { moves } = await readMoves(env)
    if (access === "write" && closedBy(moves).has(database)) throw closed(database)
    return bindingOf(env, database)
  })
}

/** Numbers of the databases that an account is on its way from or to. */
export async function findClosed(env: DatabasesEnv): Promise<ReadonlySet<number>> {
  return countDatabases(env) === 1 ? new Set() : closedBy((await readMoves(env)).moves)
}

function closedBy(moves: ReadonlyMap<string, Move>): ReadonlySet<number> {
  const underWay = [...moves.values()].filter(({ state }) => !["moved", "stayed"].includes(state))
  return new Set(underWay.flatMap(({ from, to }) => [from, to]))
}

function closed(database: number): Error {
  return new MovingError(`an account is being moved from or to database ${database}`)
}

type Access = "read" | "write"

async function waitForPlace(env: DatabasesEnv, accountId: string, access: Access): Promise<number> {
  const until = Date.now() + WAIT_MS_MAX
  for (let maxAgeMs = moveWaitMs(env) / 4; ; maxAgeMs = 0) {
    const { moves } = await readMoves(env, maxAgeMs)
    const move = moves.get(accountId)
    if (!move) return firstDatabaseOf(accountId)
    const place = placeOf(move)
    if (place.access === "all" || place.access === access) return place.database
    if (maxAgeMs > 0) continue
    if (Date.now() >= until) throw new MovingError(`account ${accountId} is being moved`)
    await scheduler.wait(ASK_EVERY_MS)
  }
}

function placeOf({ from, to, state }: Move): Place {
  if (state === "copying") return { database: from, access: "read" }
  if (state === "closing") return { database: from, access: "none" }
  return { database: state === "clearing" || state === "stayed" ? from : to, access: "all" }
}

const rows = z.array(
  z.object({
    account_id: z.string(),
    from_database: z.number(),
    to_database: z.number(),
    state: z.enum(MOVE_STATES),
    version: z.number(),
  }),
)

/** Reads what is new of moves, where what is known was read longer ago than that. */
async function readMoves(
  env: DatabasesEnv,
  maxAgeMs: number = moveWaitMs(env) / 4,
): Promise<Known> {
  const readAt = Date.now()
  const before = known.get(env.DB) ?? { readAt: -Infinity, version: 0, moves: new Map() }
  if (Math.abs(readAt - before.readAt) < maxAgeMs) return before
  const { results } = await env.DB.prepare(
    "select account_id, from_database, to_database, state, version from account_moves where version > ? order by version",
  )
    .bind(before.version)
    .all()
  const news = rows.parse(results)
  const moves = new Map(before.moves)
  for (const { account_id, from_database: from, to_database: to, state } of news) {
    moves.set(account_id, { from, to, state })
  }
  const made = { readAt, version: news.at(-1)?.version ?? before.version, moves }
  // Another request may have read later meanwhile.
  if ((known.get(env.DB)?.readAt ?? -Infinity) <= readAt) known.set(env.DB, made)
  return made
}

/** A select, which may begin by the tables that it names (`with`), as a write may. */
const READS = /^\s*(?:select\b|with\b(?![^]*\b(?:insert|update|delete)\b))/i

/** A statement as it was prepared, before it is known which database it goes to. */
type Prepared = { sql: string; values: unknown[] }

const prepared = new WeakMap<object, Prepared>()

/** A binding whose statements are prepared anew, when they are run, by the one that is chosen then. */
function deferred(model: D1Database, choose: (access: Access) => Promise<D1Database>): D1Database {
  function statement(sql: string, values: unknown[]): D1PreparedStatement {
    const text = { sql, values }
    async function on(): Promise<D1PreparedStatement> {
      return place(await choose(accessOf([text])), text)
    }
    const methods: Record<string, unknown> = {
      bind: (...bound: unknown[]) => statement(sql, bound),
      first: async (...given: [string]) => await (await on()).first(...given),
      run: async () => await (await on()).run(),
      all: async () => await (await on()).all(),
      raw: async (...given: [{ columnNames: true }]) => await (await on()).raw(...given),
    }
    const made = d1Statement.parse(methods)
    prepared.set(made, text)
    return made
  }
  return new Proxy(model, {
    get(_, name) {
      if (name === "prepare") return (sql: string) => statement(sql, [])
      if (name !== "batch") return undefined
      return async (statements: D1PreparedStatement[]) => {
        const texts = statements.map((each) => prepared.get(each) ?? notOurs())
        const binding = await choose(accessOf(texts))
        return await binding.batch(texts.map((text) => place(binding, text)))
      }
    },
  })
}

const d1Statement = z.custom<D1PreparedStatement>()

function place(binding: D1Database, { sql, values }: Prepared): D1PreparedStatement {
  const statement = binding.prepare(sql)
  return values.length > 0 ? statement.bind(...values) : statement
}

function accessOf(texts: Prepared[]): Access {
  return texts.every(({ sql }) => READS.test(sql)) ? "read" : "write"
}

function notOurs(): never {
  throw new Error("a statement of a batch was prepared by another database")
}
