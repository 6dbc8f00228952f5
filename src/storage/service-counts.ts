import { count, min, sql } from "drizzle-orm"
import { bindingOf, countDatabases } from "./database.ts"
import type { Database, DatabasesEnv } from "./database.ts"
import { deliveries } from "./schema/deliveries.ts"
import { jobs } from "./schema/jobs.ts"
import type { State } from "./schema/states.ts"
import { tasks } from "./schema/tasks.ts"
import { accountStorage } from "./schema/usage.ts"

/** How many jobs or tasks of a kind or a pool are open in a state, and since when the oldest is. */
export type OpenCount = { name: string; state: State; count: number; oldestAt: number }

const isOpen = sql`state in ('waiting', 'running')`
const NO_POOL = "unknown"

/** Open jobs of all accounts, by kind and state. */
export async function countOpenJobs(database: Database): Promise<OpenCount[]> {
  const rows = await database
    .select({ name: jobs.kind, state: jobs.state, count: count(), oldestAt: min(jobs.createdAt) })
    .from(jobs)
    .where(isOpen)
    .groupBy(jobs.kind, jobs.state)
  return rows.map((row) => ({ ...row, oldestAt: row.oldestAt ?? 0 }))
}

/** Open tasks of all accounts, by pool and state. */
export async function countOpenTasks(database: Database): Promise<OpenCount[]> {
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
  return rows.map(({ name, oldestAt, ...row }) => {
    return { ...row, name: name ?? NO_POOL, oldestAt: oldestAt ?? 0 }
  })
}

/** Webhooks that wait for a try, those of them that are due, and those given up since a moment. */
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

/** Bytes that all accounts store, and how many accounts store any. */
export async function sumStorage(database: Database): Promise<{ bytes: number; accounts: number }> {
  const [sum = { bytes: 0, accounts: 0 }] = await database
    .select({
      bytes: sql<number>`coalesce(sum(${accountStorage.bytes}), 0)`,
      accounts: sql<number>`coalesce(sum(${accountStorage.bytes} > 0), 0)`,
    })
    .from(accountStorage)
  return sum
}

/** Bytes of the largest database, which every answer of D1 tells; null where one does not. */
export async function databaseBytes(env: DatabasesEnv): Promise<number | null> {
  const numbers = Array.from({ length: countDatabases(env) }, (_, at) => at + 1)
  const answers = await Promise.all(
    numbers.map((database) => bindingOf(env, database).prepare("select 1").bind().run()),
  )
  const sizes = answers.flatMap(({ meta }) => meta.size_after ?? [])
  return sizes.length > 0 ? Math.max(...sizes) : null
}
