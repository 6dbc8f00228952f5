import { drizzle } from "drizzle-orm/d1"
import type { DrizzleD1Database } from "drizzle-orm/d1"
import type { BatchItem } from "drizzle-orm/batch"
import type { Env } from "../env.ts"
import { databaseNumberOf } from "../ids.ts"

/** What of the environment says which databases there are. */
export type DatabasesEnv = Pick<Env, "DB"> & Partial<Pick<Env, "DATABASES" | `DB_${number}`>>

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

/** How many databases there are. */
export function countDatabases({ DATABASES = "1" }: DatabasesEnv): number {
  return Number(DATABASES)
}

/** The binding of a database by its number; throws where the deployment has none. */
export function bindingOf(env: DatabasesEnv, database: number): D1Database {
  const binding = database === 1 ? env.DB : env[`DB_${database}`]
  if (binding && database <= countDatabases(env)) return binding
  throw new Error(`there is no database ${database}: DATABASES is ${countDatabases(env)}`)
}

/** The one door to the rows of an account, whose id names their database, which may be the directory. */
export function databaseOf(env: DatabasesEnv, accountId: string): AccountDatabases {
  const [directory, number] = [directoryOf(env), databaseNumberOf(accountId)]
  return { accountId, directory, sql: number === 1 ? directory : databaseAt(env, number) }
}

/**
 * The same as the nearest replica has it: as it was a moment ago, and never to write. Which reads may be
 * so old stands in docs/develop/architecture.md.
 */
export function replicaOf(env: DatabasesEnv, accountId: string): AccountDatabases {
  const own = bindingOf(env, databaseNumberOf(accountId))
  const sql = drizzle(sessionOf(own))
  return { accountId, sql, directory: own === env.DB ? sql : drizzle(sessionOf(env.DB)) }
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
  return Array.from({ length: countDatabases(env) }, (_, at) => databaseAt(env, at + 1))
}

/** One database by its number; throws where the deployment has none. */
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
