import { and, desc, eq, getTableColumns, gte, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { AccountDatabase, AccountDatabases, Database, Statement } from "./database.ts"
import { keys } from "./schema/accounts.ts"
import { usageDays } from "./schema/usage.ts"

/** What one day of one key is of, and by whom: a key's id, or null for what the dashboard did. */
type Place = { day: string; keyId: string | null }

/** The end of a job, as it counts for its account. */
export type CountedEnd = Place & { isSucceeded: boolean; processingMs: number }

/** A day of a key; `keyName` is null where there is no such key any more. */
export type DayOfKey = {
  day: string
  keyId: string | null
  keyName: string | null
  requests: number
  jobs: number
  fetches: number
  succeededJobs: number
  failedJobs: number
  processingMs: number
}

/** Counts an accepted job and what it is to bring in. */
export function countJob(
  { accountId, sql: database }: AccountDatabase,
  { day, keyId, fetches }: Place & { fetches: number },
): Statement {
  return database
    .insert(usageDays)
    .values({ accountId, day, keyId: keyId ?? "", jobs: 1, fetches })
    .onConflictDoUpdate({
      target: [usageDays.accountId, usageDays.day, usageDays.keyId],
      set: { jobs: sql`jobs + 1`, fetches: sql`fetches + excluded.fetches` },
    })
}

/** Counts the end of a job where `condition` holds. */
export function countEnd(
  { accountId, sql: database }: AccountDatabase,
  { day, keyId, isSucceeded, processingMs }: CountedEnd,
  condition: SQL,
): Statement {
  const [succeeded, failed] = isSucceeded ? [1, 0] : [0, 1]
  return database
    .insert(usageDays)
    .select(
      sql`select ${accountId}, ${day}, ${keyId ?? ""}, 0, 0, 0, ${succeeded}, ${failed}, ${processingMs} where ${condition}`,
    )
    .onConflictDoUpdate({
      target: [usageDays.accountId, usageDays.day, usageDays.keyId],
      set: {
        succeededJobs: sql`succeeded_jobs + excluded.succeeded_jobs`,
        failedJobs: sql`failed_jobs + excluded.failed_jobs`,
        processingMs: sql`processing_ms + excluded.processing_ms`,
      },
    })
}

/** What an account used since a day, the newest day first, at most `limit` rows. */
export async function listUsage(
  { accountId, sql: database, directory }: AccountDatabases,
  { since, limit }: { since: string; limit: number },
): Promise<DayOfKey[]> {
  const { accountId: _accountId, keyId: _keyId, ...amounts } = getTableColumns(usageDays)
  const keyId = sql<string | null>`nullif(${usageDays.keyId}, '')`
  const [days, named] = await Promise.all([
    database
      .select({ ...amounts, keyId })
      .from(usageDays)
      .where(and(eq(usageDays.accountId, accountId), gte(usageDays.day, since)))
      .orderBy(desc(usageDays.day), desc(usageDays.keyId))
      .limit(limit),
    directory
      .select({ id: keys.id, name: keys.name })
      .from(keys)
      .where(eq(keys.accountId, accountId)),
  ])
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return days
    .map((day) => ({ ...day, keyName: names.get(day.keyId ?? "") ?? null }))
    .toSorted(byDayAndKey)
}

/** The newest day first, and keys of a day by their ids. */
function byDayAndKey(one: DayOfKey, other: DayOfKey): number {
  if (one.day !== other.day) return one.day < other.day ? 1 : -1
  return (one.keyId ?? "") < (other.keyId ?? "") ? -1 : 1
}

/** Deletes what all accounts used before a day. */
export async function deleteOldUsage(database: Database, before: string): Promise<void> {
  await database.delete(usageDays).where(lt(usageDays.day, before))
}
