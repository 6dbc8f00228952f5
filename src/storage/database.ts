import { drizzle } from "drizzle-orm/d1"
import type { DrizzleD1Database } from "drizzle-orm/d1"
import type { BatchItem } from "drizzle-orm/batch"
import { bindingOf, countDatabases, placedDatabase, sharedDatabase } from "./places.ts"
import type { DatabasesEnv } from "./places.ts"

/** A database that holds rows of many accounts. */
export type Database = DrizzleD1Database

/**
 * The database that holds an account's rows, and the account. Functions that read or write rows of
 * an account take one of these, so that every query names the account.
 */
export type AccountDatabase = { readonly accountId: string; readonly sql: Database }

/** The same, with the database of its keys and users, and of what counts of the account itself. */
export type AccountDatabases = AccountDatabase & { readonly directory: Database }

/** One statement of an atomic batch. */
export type Statement = BatchItem<"sqlite">

/** D1 refuses statements with more bound parameters than this. */
const BOUND_PARAMETERS_MAX = 100

/**
 * The one door to the rows of an account. Which database has them is found out when a statement is run,
 * so that one that is prepared while the account is moved goes to where it then is.
 */
export function databaseOf(env: DatabasesEnv, accountId: string): AccountDatabases {
  const directory = directoryOf(env)
  const isOne = countDatabases(env) === 1
  return { accountId, directory, sql: isOne ? directory : drizzle(placedDatabase(env, accountId)) }
}

/**
 * The same as the nearest replica has it: as it was a moment ago, and never to write. Which reads may be
 * so old stands in docs/architecture.md.
 */
export function replicaOf(env: DatabasesEnv, accountId: string): AccountDatabases {
  const directory = drizzle(sessionOf(env.DB))
  if (countDatabases(env) === 1) return { accountId, sql: directory, directory }
  return { accountId, directory, sql: drizzle(placedDatabase(env, accountId, sessionOf)) }
}

/** A session of a database in its place: what it does not have is the database's own. */
function sessionOf(database: D1Database): D1Database {
  const session = database.withSession("first-unconstrained")
  return {
    prepare: (sql) => session.prepare(sql),
    batch: async (statements) => await session.batch(statements),
    exec: async (sql) => await database.exec(sql),
    withSession: (constraint) => database.withSession(constraint),
    dump: async () => await database.dump(),
  }
}

/** Every database with rows of accounts, by number, for upkeep, which looks at all accounts. */
export function databasesOf(env: DatabasesEnv): Database[] {
  const count = countDatabases(env)
  if (count === 1) return [directoryOf(env)]
  return Array.from({ length: count }, (_, at) => drizzle(sharedDatabase(env, at + 1)))
}

/** One database by its number, for what moves accounts and copies what the directory says of them. */
export function databaseAt(env: DatabasesEnv, database: number): Database {
  return drizzle(bindingOf(env, database))
}

/** The database of accounts, keys and users, where a key's account is looked up. */
export function directoryOf(env: Pick<DatabasesEnv, "DB">): Database {
  return drizzle(env.DB)
}

/** Runs statements in one transaction, in their order; an empty list does nothing. */
export async function runBatch(database: Database, statements: Statement[]): Promise<unknown[]> {
  const [first, ...rest] = statements
  if (!first) return []
  return await database.batch([first, ...rest])
}

/** Splits rows so that an insert of each group stays under D1's limit of bound parameters. */
export function groupRows<Row>(rows: Row[], columns: number): Row[][] {
  const size = Math.floor(BOUND_PARAMETERS_MAX / columns)
  const groups: Row[][] = []
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size))
  return groups
}
