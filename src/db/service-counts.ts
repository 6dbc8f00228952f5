import { count, min, sql } from "drizzle-orm"
import { getDatabaseBinding, countDatabases } from "./database.ts"
import type { Database, DatabasesEnv } from "./database.ts"
import { deliveries } from "./schema/deliveries.ts"
import { jobs } from "./schema/jobs.ts"
import type { State } from "../domain/states.ts"
import { tasks } from "./schema/tasks.ts"
import { accountStorage } from "./schema/usage.ts"

/**
 * Number of open jobs of a kind, or of open tasks of a pool, that are in one state. `name` is the
 * kind or the pool. `oldestAt` is the creation time of the oldest of these jobs or tasks.
 */
export type OpenJobOrTaskCount = { name: string; state: State; count: number; oldestAt: number }

const isOpen = sql`state in ('waiting', 'running')`

/** Counts the open jobs of all accounts in a database, by kind and state. */
export async function countOpenJobs(database: Database): Promise<OpenJobOrTaskCount[]> {
  const rows = await database
    .select({ name: jobs.kind, state: jobs.state, count: count(), oldestAt: min(jobs.createdAt) })
    .from(jobs)
    .where(isOpen)
    .groupBy(jobs.kind, jobs.state)
  return rows.map((row) => ({ ...row, oldestAt: row.oldestAt ?? 0 }))
}

/** Counts the open tasks of all accounts in a database, by pool and state. */
export async function countOpenTasks(database: Database): Promise<OpenJobOrTaskCount[]> {
  const rows = await database
    .select({
      name: tasks.pool,
      state: tasks.state,
      count: count(),
      oldestAt: min(tasks.createdAt),
    })
    .from(tasks)
    .where(isOpen)
    .groupBy(tasks.pool, tasks.state)
  return rows.map((row) => ({ ...row, oldestAt: row.oldestAt ?? 0 }))
}

/**
 * Counts webhook deliveries of all accounts: those that wait, those that are due now, and those
 * that failed since a time.
 */
export async function countDeliveries(
  database: Database,
  { now, since }: { now: number; since: number },
): Promise<{ waiting: number; due: number; failed: number }> {
  const [waiting = { all: 0, due: 0 }] = await database
    .select({ all: count(), due: sql<number>`coalesce(sum(next_try_at <= ${now}), 0)` })
    .from(deliveries)
    .where(sql`state = 'waiting'`)
  const failed = await database.$count(
    deliveries,
    sql`completed_at is not null and completed_at >= ${since} and state = 'failed'`,
  )
  return { waiting: waiting.all, due: waiting.due, failed }
}

/**
 * Returns the total bytes of stored files in a database, and the number of accounts with stored
 * files.
 */
export async function sumStoredBytes(
  database: Database,
): Promise<{ bytes: number; accounts: number }> {
  const [sum = { bytes: 0, accounts: 0 }] = await database
    .select({
      bytes: sql<number>`coalesce(sum(${accountStorage.bytes}), 0)`,
      accounts: sql<number>`coalesce(sum(${accountStorage.bytes} > 0), 0)`,
    })
    .from(accountStorage)
  return sum
}

/**
 * Returns the size of the largest database in bytes, as D1's responses report it. Returns null if
 * D1 reports no size.
 */
export async function readLargestDatabaseBytes(env: DatabasesEnv): Promise<number | null> {
  const numbers = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  const answers = await Promise.all(
    numbers.map((database) => getDatabaseBinding(env, database).prepare("select 1").bind().run()),
  )
  const sizes = answers.flatMap(({ meta }) => meta.size_after ?? [])
  return sizes.length > 0 ? Math.max(...sizes) : null
}
