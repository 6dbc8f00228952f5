import { drizzle } from "drizzle-orm/d1"
import type { DrizzleD1Database } from "drizzle-orm/d1"
import type { BatchItem } from "drizzle-orm/batch"
import type { Env } from "../bindings/env.ts"
import { readDatabaseNumber } from "../platform/ids.ts"

/**
 * Part of the Worker's environment: the bindings of the D1 databases, and the number of databases.
 */
export type DatabasesEnv = Pick<Env, "DB"> & Partial<Pick<Env, "DATABASES" | `DB_${number}`>>

/** D1 database, opened with drizzle. A database holds rows of many accounts. */
export type Database = DrizzleD1Database

/**
 * Id of an account, and the database that holds the account's rows. Functions that read or write
 * rows of an account take this type, so that every query can filter by the account.
 */
export type AccountDatabase = { readonly accountId: string; readonly sql: Database }

/**
 * Database with an account's rows, and the directory database, which holds the account's keys and
 * users and its authoritative row.
 */
export type AccountDatabases = AccountDatabase & { readonly directory: Database }

/** SQL statement for a batch. D1 runs a batch as one transaction. */
export type Statement = BatchItem<"sqlite">

/** Maximum number of bound parameters that D1 accepts in one statement. */
const BOUND_PARAMETERS_MAX = 100

/** Returns the number of databases of the deployment. */
export function countDatabases({ DATABASES = "1" }: DatabasesEnv): number {
  return Number(DATABASES)
}

/**
 * Returns the D1 binding of a database by its number. Throws if the deployment has no such
 * database.
 */
export function getDatabaseBinding(env: DatabasesEnv, database: number): D1Database {
  const binding = database === 1 ? env.DB : env[`DB_${database}`]
  if (binding && database <= countDatabases(env)) return binding
  throw new Error(`database ${database} does not exist: DATABASES is ${countDatabases(env)}`)
}

/**
 * Opens the database with an account's rows and the directory database. The id of an account
 * contains the number of its database; the database with number 1 is the directory.
 */
export function openAccountDatabases(env: DatabasesEnv, accountId: string): AccountDatabases {
  const [directory, number] = [openDirectory(env), readDatabaseNumber(accountId)]
  return { accountId, directory, sql: number === 1 ? directory : openDatabaseByNumber(env, number) }
}

/**
 * Opens an account's databases at the nearest read replica, whose data may be stale.
 * docs/develop/architecture.md lists the reads that may use replicas.
 */
export function openAccountReplicas(env: DatabasesEnv, accountId: string): AccountDatabases {
  const own = getDatabaseBinding(env, readDatabaseNumber(accountId))
  const sql = drizzle(sessionOf(own))
  return { accountId, sql, directory: own === env.DB ? sql : drizzle(sessionOf(env.DB)) }
}

/**
 * Wraps a session of a D1 database as a D1Database. Calls of methods that a session lacks go to the
 * database.
 */
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

/**
 * Opens all databases of the deployment in the order of their numbers, for maintenance of all
 * accounts.
 */
export function openAllDatabases(env: DatabasesEnv): Database[] {
  return Array.from({ length: countDatabases(env) }, (_, at) => openDatabaseByNumber(env, at + 1))
}

/** Opens a database by its number. Throws if the deployment has no such database. */
export function openDatabaseByNumber(env: DatabasesEnv, database: number): Database {
  return drizzle(getDatabaseBinding(env, database))
}

/** Opens the directory database, which holds all accounts, keys, users and plans. */
export function openDirectory(env: Pick<DatabasesEnv, "DB">): Database {
  return drizzle(env.DB)
}

/** Runs statements in order in one transaction. Does nothing for an empty list. */
export async function runBatch(database: Database, statements: Statement[]): Promise<unknown[]> {
  const [first, ...rest] = statements
  if (!first) return []
  return await database.batch([first, ...rest])
}

/**
 * Splits rows into groups for inserts. The insert of one group stays within D1's limit of bound
 * parameters.
 */
export function splitRowsForInsert<Row>(rows: Row[], columns: number): Row[][] {
  const size = Math.floor(BOUND_PARAMETERS_MAX / columns)
  const groups: Row[][] = []
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size))
  return groups
}
