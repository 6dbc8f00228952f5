import { and, desc, eq, getTableColumns, gte, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { AccountDatabase, AccountDatabases, Database, Statement } from "../database.ts"
import { apiKeys } from "../schema/accounts.ts"
import { usageDays } from "../schema/usage.ts"

/**
 * Day and API key under which usage is counted. `keyId` is null for requests from the dashboard.
 */
type UsageKey = { day: string; keyId: string | null }

/** Amounts by which the end of a job raises the usage of its account on the UTC day of the end. */
export type JobEndUsage = UsageKey & { isSucceeded: boolean; processingMs: number }

/**
 * Usage of an API key on a day. `keyId` is null for requests from the dashboard. `keyName` is null
 * if the key no longer exists.
 */
export type KeyUsageOnDay = {
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

/**
 * Returns the statement that adds accepted jobs and their downloads from URLs to the usage of the
 * day.
 */
export function addAcceptedJobsToUsage(
  { accountId, sql: database }: AccountDatabase,
  { day, keyId, jobs, fetches }: UsageKey & { jobs: number; fetches: number },
): Statement {
  return database
    .insert(usageDays)
    .values({ accountId, day, keyId: keyId ?? "", jobs, fetches })
    .onConflictDoUpdate({
      target: [usageDays.accountId, usageDays.day, usageDays.keyId],
      set: { jobs: sql`jobs + excluded.jobs`, fetches: sql`fetches + excluded.fetches` },
    })
}

/**
 * Returns the statement that adds a finished job, as succeeded or failed, and its processing time
 * to the usage of the day if `condition` holds.
 */
export function addJobEndToUsageStatement(
  { accountId, sql: database }: AccountDatabase,
  { day, keyId, isSucceeded, processingMs }: JobEndUsage,
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

/**
 * Returns at most `limit` rows of an account's usage by day and key since a day, the newest day
 * first.
 */
export async function listDailyUsage(
  { accountId, sql: database, directory }: AccountDatabases,
  { since, limit }: { since: string; limit: number },
): Promise<KeyUsageOnDay[]> {
  const { accountId: _accountId, keyId: _keyId, ...amounts } = getTableColumns(usageDays)
  const keyId = sql<string | null>`nullif(${usageDays.keyId}, '')`
  const [days, keyNames] = await Promise.all([
    database
      .select({ ...amounts, keyId })
      .from(usageDays)
      .where(and(eq(usageDays.accountId, accountId), gte(usageDays.day, since)))
      .orderBy(desc(usageDays.day), desc(usageDays.keyId))
      .limit(limit),
    directory
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(eq(apiKeys.accountId, accountId)),
  ])
  const names = new Map(keyNames.map(({ id, name }) => [id, name]))
  return days
    .map((day) => ({ ...day, keyName: names.get(day.keyId ?? "") ?? null }))
    .toSorted(byDayAndKey)
}

/** Compares two rows of usage, for a sort by day, newest first, and then by key id. */
function byDayAndKey(one: KeyUsageOnDay, other: KeyUsageOnDay): number {
  if (one.day !== other.day) return one.day < other.day ? 1 : -1
  return (one.keyId ?? "") < (other.keyId ?? "") ? -1 : 1
}

/** Deletes the daily usage of all accounts that is older than the day `before`. */
export async function deleteOldUsage(database: Database, before: string): Promise<void> {
  await database.delete(usageDays).where(lt(usageDays.day, before))
}
