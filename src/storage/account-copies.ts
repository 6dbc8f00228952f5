import { and, eq, ne, sql } from "drizzle-orm"
import { databaseNumberOf, newAccountId } from "../ids.ts"
import { bindingOf, countDatabases, databaseAt, directoryOf, runBatch } from "./database.ts"
import type { Database, DatabasesEnv } from "./database.ts"
import { accounts, plans } from "./schema/accounts.ts"
import type { Account, OwnPlan } from "./schema/accounts.ts"

// The directory says what counts of accounts and plans. What is asked together with rows of an account,
// in one statement or one batch, is copied to the database of these rows.

/** Databases whose sizes differ by no more than this count as equally full. */
const UNEVEN_BYTES = 256 * 1024 ** 2

/**
 * The id of an account to come, which names the least filled database, and never the directory's where
 * there are others; chance chooses among those that are equally full.
 */
export async function placeNewAccount(env: DatabasesEnv): Promise<string> {
  const count = countDatabases(env)
  if (count === 1) return newAccountId(1)
  const others = await Promise.all(
    Array.from({ length: count - 1 }, async (_, at) => {
      return { database: at + 2, bytes: await bytesOf(env, at + 2) }
    }),
  )
  const least = Math.min(...others.map(({ bytes }) => bytes))
  const free = others.filter(({ bytes }) => bytes - least <= UNEVEN_BYTES)
  return newAccountId(free[Math.floor(Math.random() * free.length)]?.database ?? 2)
}

async function bytesOf(env: DatabasesEnv, database: number): Promise<number> {
  const { meta } = await bindingOf(env, database).prepare("select 1").run()
  return typeof meta.size_after === "number" ? meta.size_after : 0
}

/**
 * Brings the copy of an account up to what the directory says of it, after whatever changed that; the
 * sweep does the same for one whose copy was not reached (`listUncopied`).
 */
export async function copyAccount(env: DatabasesEnv, accountId: string): Promise<void> {
  const number = databaseNumberOf(accountId)
  if (number === 1) return
  const [directory, own] = [directoryOf(env), databaseAt(env, number)]
  const isThis = eq(accounts.id, accountId)
  const [account] = await directory.select().from(accounts).where(isThis)
  if (!account) return void (await own.delete(accounts).where(isThis))
  const { version } = account
  if (await writeCopy(env, own, account)) {
    const set = { copiedVersion: version }
    await directory
      .update(accounts)
      .set(set)
      .where(and(isThis, eq(accounts.version, version)))
    return
  }
  // The copy is of a later version than the directory, which was restored from a backup.
  const [newer] = await own.select().from(accounts).where(isThis)
  await directory
    .update(accounts)
    .set({ version: sql`max(version, ${newer?.version ?? version}) + 1` })
    .where(isThis)
  await copyAccount(env, accountId)
}

/** Writes an account's row into a database; false where a later version is there. */
async function writeCopy(env: DatabasesEnv, own: Database, account: Account): Promise<boolean> {
  const { name } = account
  const [holder] = await own
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.name, name), ne(accounts.id, account.id)))
    .limit(1)
  // Who had the name before has another one, or is gone.
  if (holder) await copyAccount(env, holder.id)
  const written = await copyStatement(own, account).returning({ id: accounts.id })
  return written.length === 1
}

/** Writes an account's row into a database, unless a later version is there. */
function copyStatement(own: Database, account: Account) {
  return own
    .insert(accounts)
    .values(account)
    .onConflictDoUpdate({
      target: accounts.id,
      set: account,
      setWhere: sql`excluded.version >= accounts.version`,
    })
}

/** Accounts whose copies are not what the directory says. */
export async function listUncopied(env: DatabasesEnv, limit: number): Promise<string[]> {
  const rows = await directoryOf(env)
    .select({ id: accounts.id })
    .from(accounts)
    .where(sql`database <> 1 and version <> copied_version`)
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** Brings the copies of the operator's own plans up to what the directory says, where they are not. */
export async function copyPlans(env: DatabasesEnv): Promise<void> {
  const count = countDatabases(env)
  if (count === 1) return
  const own = await directoryOf(env).select().from(plans).orderBy(plans.name)
  const others = Array.from({ length: count - 1 }, (_, at) => databaseAt(env, at + 2))
  await Promise.all(others.map(async (database) => await copyPlansTo(database, own)))
}

async function copyPlansTo(database: Database, own: OwnPlan[]): Promise<void> {
  const copies = await database.select().from(plans).orderBy(plans.name)
  const changed = own.filter((plan) => !copies.some((copy) => isSame(copy, plan)))
  const gone = copies.filter(({ name }) => !own.some((plan) => plan.name === name))
  if (changed.length === 0 && gone.length === 0) return
  const [lost, rows] = [gone.map(({ name }) => name), changed].map((list) => JSON.stringify(list))
  await runBatch(database, [
    database.delete(plans).where(sql`${plans.name} in (select value from json_each(${lost}))`),
    database
      .insert(plans)
      .select(
        sql`select value ->> 'name', value -> 'limits', value ->> 'createdAt', value ->> 'updatedAt' from json_each(${rows}) where true`,
      )
      .onConflictDoUpdate({
        target: plans.name,
        set: { limits: sql`excluded.limits`, updatedAt: sql`excluded.updated_at` },
      }),
  ])
}

function isSame(one: OwnPlan, other: OwnPlan): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
