import { and, eq, inArray, lte, notInArray, sql } from "drizzle-orm"
import { copyStatement } from "./account-copies.ts"
import { databaseAt, directoryOf, runBatch } from "./database.ts"
import type { Database } from "./database.ts"
import type { DatabasesEnv } from "./places.ts"
import { accountMoves, accounts } from "./schema/accounts.ts"
import type { AccountMove, MoveCursor } from "./schema/accounts.ts"
import type { MoveState } from "./schema/states.ts"
import { accountStorage } from "./schema/usage.ts"

const ENDS: MoveState[] = ["moved", "stayed"]

/** Numbers rise also where the row of the highest is gone, since the clock goes on. */
function nextVersion(now: number) {
  return sql<number>`max(${now}, 1 + coalesce((select max(version) from account_moves), 0))`
}

/** Begins a move of an account that is not on its way; false where it is, or has no such place. */
export async function insertMove(
  directory: Database,
  { accountId, from, to, now }: { accountId: string; from: number; to: number; now: number },
): Promise<boolean> {
  const isThere = sql`exists (select 1 from ${accounts} where id = ${accountId} and database = ${from} and deleted_at is null)`
  const begun = {
    fromDatabase: from,
    toDatabase: to,
    state: "copying" as const,
    since: now,
    version: nextVersion(now),
    cursor: null,
    leaseUntil: 0,
    error: null,
  }
  const rows = await directory
    .insert(accountMoves)
    .select(
      sql`select ${accountId}, ${from}, ${to}, 'copying', ${now}, ${begun.version}, null, 0, null where ${isThere}`,
    )
    .onConflictDoUpdate({
      target: accountMoves.accountId,
      set: begun,
      setWhere: inArray(accountMoves.state, ENDS),
    })
    .returning({ id: accountMoves.accountId })
  return rows.length === 1
}

/** The move of an account, over or not; null where it never was moved. */
export async function findMove(
  directory: Database,
  accountId: string,
): Promise<AccountMove | null> {
  const isThis = eq(accountMoves.accountId, accountId)
  const [move] = await directory.select().from(accountMoves).where(isThis)
  return move ?? null
}

/** Accounts that are on their way. */
export async function listMoving(directory: Database): Promise<string[]> {
  const rows = await directory
    .select({ id: accountMoves.accountId })
    .from(accountMoves)
    .where(sql`state not in ('moved', 'stayed')`)
  return rows.map(({ id }) => id)
}

/** Takes the next step of a move for a while; null where somebody else has it, or it is over. */
export async function leaseMove(
  directory: Database,
  accountId: string,
  { now, leaseMs }: { now: number; leaseMs: number },
): Promise<AccountMove | null> {
  const [move] = await directory
    .update(accountMoves)
    .set({ leaseUntil: now + leaseMs })
    .where(
      and(
        eq(accountMoves.accountId, accountId),
        lte(accountMoves.leaseUntil, now),
        notInArray(accountMoves.state, ENDS),
      ),
    )
    .returning()
  return move ?? null
}

/** Notes how far a step came, and lets others go on with the next one. */
export async function releaseMove(
  directory: Database,
  { accountId, state }: Pick<AccountMove, "accountId" | "state">,
  cursor: MoveCursor | null,
): Promise<void> {
  await directory
    .update(accountMoves)
    .set({ cursor, leaseUntil: 0 })
    .where(and(eq(accountMoves.accountId, accountId), eq(accountMoves.state, state)))
}

/** Says what comes next of a move, which everybody knows after a wait; not where it is elsewhere. */
export async function enterState(
  directory: Database,
  { accountId, state: before }: Pick<AccountMove, "accountId" | "state">,
  { state, now, error = null }: { state: MoveState; now: number; error?: string | null },
): Promise<void> {
  const version = nextVersion(now)
  await directory
    .update(accountMoves)
    .set({ state, since: now, version, cursor: null, leaseUntil: 0, error })
    .where(and(eq(accountMoves.accountId, accountId), eq(accountMoves.state, before)))
}

/**
 * Has the new database be that of the account, when all rows are there: first there, so that nothing
 * is copied to it any more, and then in the directory.
 */
export async function switchPlace(
  env: DatabasesEnv,
  { accountId, toDatabase: database }: AccountMove,
  now: number,
): Promise<void> {
  const directory = directoryOf(env)
  const isThis = eq(accounts.id, accountId)
  const [account] = await directory.select().from(accounts).where(isThis)
  if (account && database !== 1) {
    await copyStatement(databaseAt(env, database), { ...account, database })
  }
  const copiedVersion = account?.version ?? 0
  await runBatch(directory, [
    directory.update(accounts).set({ database, copiedVersion }).where(isThis),
    directory
      .update(accountMoves)
      .set({
        state: "emptying",
        since: now,
        version: nextVersion(now),
        cursor: null,
        leaseUntil: 0,
      })
      .where(eq(accountMoves.accountId, accountId)),
  ])
}

/** Removes what a database that has no rows of an account any more says of the account itself. */
export async function removeTraces(
  env: DatabasesEnv,
  accountId: string,
  database: number,
): Promise<void> {
  const left = databaseAt(env, database)
  await left.delete(accountStorage).where(eq(accountStorage.accountId, accountId))
  if (database !== 1) await left.delete(accounts).where(eq(accounts.id, accountId))
}
