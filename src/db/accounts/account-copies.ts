import { and, eq, ne, sql } from "drizzle-orm"
import { readDatabaseNumber, newAccountId } from "../../platform/ids.ts"
import {
  getDatabaseBinding,
  countDatabases,
  openDatabaseByNumber,
  openDirectory,
  runBatch,
} from "../database.ts"
import type { Database, DatabasesEnv } from "../database.ts"
import { accounts, plans } from "../schema/accounts.ts"
import type { Account, OperatorPlan } from "../schema/accounts.ts"

// The directory database holds the authoritative rows of accounts and plans. The database with an
// account's rows has copies of the account and its plan, for statements that join them with other
// rows.

/** Difference of two databases' sizes, in bytes, up to which both count as equally full. */
const UNEVEN_BYTES = 256 * 1024 ** 2

/**
 * Returns the id of a new account, which contains the number of the emptiest database. If the
 * deployment has several databases, the directory database gets no accounts. Equally full databases
 * are chosen at random.
 */
export async function chooseNewAccountId(env: DatabasesEnv): Promise<string> {
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
  const { meta } = await getDatabaseBinding(env, database).prepare("select 1").run()
  return typeof meta.size_after === "number" ? meta.size_after : 0
}

/**
 * Copies an account's row from the directory to the database with the account's other rows, after a
 * change of the account. If the copy fails, the sweep copies the row later
 * (`listOutdatedAccountCopies`).
 */
export async function syncAccountCopy(env: DatabasesEnv, accountId: string): Promise<void> {
  const number = readDatabaseNumber(accountId)
  if (number === 1) return
  const [directory, own] = [openDirectory(env), openDatabaseByNumber(env, number)]
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
  // After the directory was restored from a backup, the account's copy can be newer than its row in
  // the directory. The row then gets a version above that of the copy.
  const [newer] = await own.select().from(accounts).where(isThis)
  await directory
    .update(accounts)
    .set({ version: sql`max(version, ${newer?.version ?? version}) + 1` })
    .where(isThis)
  await syncAccountCopy(env, accountId)
}

/**
 * Writes an account's row into a database. Returns false if the database already has a later
 * version of the row.
 */
async function writeCopy(env: DatabasesEnv, own: Database, account: Account): Promise<boolean> {
  const { name } = account
  const [holder] = await own
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.name, name), ne(accounts.id, account.id)))
    .limit(1)
  // Names are unique. If another account still has this name in the database of the copy, that row
  // is stale: the directory has since renamed or deleted the other account.
  if (holder) await syncAccountCopy(env, holder.id)
  const rows = await copyStatement(own, account).returning({ id: accounts.id })
  return rows.length === 1
}

/**
 * Returns the statement that writes an account's row into a database, unless the database already
 * has a later version of the row.
 */
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

/** Returns the ids of accounts whose row in the directory is newer than its copy. */
export async function listOutdatedAccountCopies(
  env: DatabasesEnv,
  limit: number,
): Promise<string[]> {
  const rows = await openDirectory(env)
    .select({ id: accounts.id })
    .from(accounts)
    .where(sql`database <> 1 and version <> copied_version`)
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** Copies the operator's plans to all databases after a change of a plan in the directory. */
export async function syncPlanCopies(env: DatabasesEnv): Promise<void> {
  const count = countDatabases(env)
  if (count === 1) return
  const own = await openDirectory(env).select().from(plans).orderBy(plans.name)
  const others = Array.from({ length: count - 1 }, (_, at) => openDatabaseByNumber(env, at + 2))
  await Promise.all(others.map(async (database) => await copyPlansTo(database, own)))
}

async function copyPlansTo(database: Database, own: OperatorPlan[]): Promise<void> {
  const copies = await database.select().from(plans).orderBy(plans.name)
  const changed = own.filter((plan) => !copies.some((copy) => isSame(copy, plan)))
  const surplus = copies.filter(({ name }) => !own.some((plan) => plan.name === name))
  if (changed.length === 0 && surplus.length === 0) return
  const [surplusNames, rows] = [surplus.map(({ name }) => name), changed].map((list) =>
    JSON.stringify(list),
  )
  await runBatch(database, [
    database
      .delete(plans)
      .where(sql`${plans.name} in (select value from json_each(${surplusNames}))`),
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

function isSame(one: OperatorPlan, other: OperatorPlan): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
