import type { Env } from "../../env.ts"
import { doOrLog, log } from "../../log.ts"
import { findHolderPlace } from "../../storage/accounts.ts"
import {
  enterState,
  findMove,
  insertMove,
  leaseMove,
  listMoving,
  releaseMove,
  removeTraces,
  switchPlace,
} from "../../storage/account-moves.ts"
import {
  ACCOUNT_TABLES,
  copyPage,
  countRows,
  removeGarbageRows,
  removePage,
} from "../../storage/account-rows.ts"
import { databaseAt, directoryOf } from "../../storage/database.ts"
import { countDatabases, moveWaitMs } from "../../storage/places.ts"
import type { AccountMove, MoveCursor } from "../../storage/schema/accounts.ts"

/** Longer than an invocation works at a step. */
const LEASE_MS = 120_000
/** Each takes some eight statements of the thousand that an invocation may have. */
const PAGES_MAX = 80
const STEP_MS_MAX = 20_000

/** Why an account is not moved: there is none, it is there, on its way, or there is no such database. */
export type MoveRefusal = "absent" | "there" | "moving" | "no_database"

/** Begins to move an account's rows to another database; the sweep goes on with it, step by step. */
export async function beginMove(
  env: Env,
  accountId: string,
  database: number,
): Promise<MoveRefusal | null> {
  if (database < 1 || database > countDatabases(env)) return "no_database"
  const directory = directoryOf(env)
  const from = await findHolderPlace(directory, accountId)
  if (from === null) return "absent"
  if (from === database) return "there"
  const begun = { accountId, from, to: database, now: Date.now() }
  if (!(await insertMove(directory, begun))) return "moving"
  log("info", "account.move_began", { account_id: accountId, from, to: database })
  return null
}

/** Has an account that is being copied stay where it is; false where it is not. */
export async function giveUpMove(env: Env, accountId: string): Promise<boolean> {
  const directory = directoryOf(env)
  const move = await findMove(directory, accountId)
  if (move?.state !== "copying") return false
  await giveUp(env, move, "it was given up")
  return (await findMove(directory, accountId))?.state === "clearing"
}

/** Goes on with all moves that are under way. */
export async function stepMoves(env: Env): Promise<void> {
  if (countDatabases(env) === 1) return
  for (const accountId of await listMoving(directoryOf(env))) {
    await doOrLog("sweep.move_failed", { account_id: accountId }, async () => {
      await stepMove(env, accountId)
    })
  }
}

/** Makes the next step of a move, where one is due and nobody else makes it; answers how it then is. */
export async function stepMove(env: Env, accountId: string): Promise<AccountMove | null> {
  const directory = directoryOf(env)
  const now = Date.now()
  const move = await leaseMove(directory, accountId, { now, leaseMs: LEASE_MS })
  if (move) await step(env, move, now)
  return await findMove(directory, accountId)
}

async function step(env: Env, move: AccountMove, now: number): Promise<void> {
  // Until then somebody may not know of the state, or be in the middle of a statement.
  const waitsMs = move.since + moveWaitMs(env) - now
  const mayAct = waitsMs <= 0 || waitsMs > moveWaitMs(env)
  if (mayAct && move.state === "closing") return await finish(env, move)
  if (mayAct && move.state === "copying") return await copy(env, move)
  if (mayAct) return await remove(env, move)
  await releaseMove(directoryOf(env), move, move.cursor)
}

async function copy(env: Env, move: AccountMove): Promise<void> {
  const { accountId, fromDatabase, toDatabase } = move
  const from = databaseAt(env, fromDatabase)
  const to = { accountId, database: toDatabase, sql: databaseAt(env, toDatabase) }
  const left = await goThrough(move, async (cursor) => await copyPage(from, to, cursor))
  if (left) return await releaseMove(directoryOf(env), move, left)
  const [before, after] = await Promise.all([
    countRows(from, accountId),
    countRows(to.sql, accountId),
  ])
  const wrong = ACCOUNT_TABLES.filter((_, at) => before[at] !== after[at])
  if (wrong.length > 0) return await giveUp(env, move, `${wrong.join(", ")} were not copied whole`)
  await enterState(directoryOf(env), move, { state: "closing", now: Date.now() })
}

async function giveUp(env: Env, move: AccountMove, error: string): Promise<void> {
  log("warn", "account.move_given_up", { account_id: move.accountId, error })
  await enterState(directoryOf(env), move, { state: "clearing", now: Date.now(), error })
}

async function finish(env: Env, move: AccountMove): Promise<void> {
  const { accountId, fromDatabase: database } = move
  // What is removed by rows that were left here may be used by then where the account is.
  await removeGarbageRows({ accountId, database, sql: databaseAt(env, database) })
  await switchPlace(env, move, Date.now())
}

/** Removes what is left in the database that the account is not in. */
async function remove(env: Env, move: AccountMove): Promise<void> {
  const { accountId, state, fromDatabase, toDatabase, error } = move
  const database = state === "emptying" ? fromDatabase : toDatabase
  const place = { accountId, database, sql: databaseAt(env, database) }
  await removeTraces(env, accountId, database)
  const left = await goThrough(move, async (cursor) => await removePage(place, cursor))
  if (left) return await releaseMove(directoryOf(env), move, left)
  await removeTraces(env, accountId, database)
  const end = state === "emptying" ? ("moved" as const) : ("stayed" as const)
  await enterState(directoryOf(env), move, { state: end, now: Date.now(), error })
  log("info", "account.move_ended", { account_id: accountId, state: end })
}

/** Goes from page to page for as long as one step may take; answers where to go on, null at the end. */
async function goThrough(
  { cursor }: AccountMove,
  act: (cursor: MoveCursor | null) => Promise<MoveCursor | null>,
): Promise<MoveCursor | null> {
  const until = Date.now() + STEP_MS_MAX
  let at = cursor
  for (let pages = 0; pages < PAGES_MAX && Date.now() < until; pages += 1) {
    at = await act(at)
    if (at === null) return null
  }
  return at
}
