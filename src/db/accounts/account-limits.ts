import { and, eq, isNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { LimitName } from "../../domain/plan-fields.ts"
import type { PlanLimits } from "../../domain/plans.ts"
import type { AccountDatabase } from "../database.ts"
import { accounts } from "../schema/accounts.ts"
import { jobs } from "../schema/jobs.ts"
import { tusUploads } from "../schema/uploads.ts"
import { accountStorage, usageDays } from "../schema/usage.ts"

/** Limits of an account that a new job could exceed. */
export type NewJobLimits = Pick<PlanLimits, "waitingJobsMax" | "fetchesPerDay" | "storageBytesMax">

/** Amounts that the new jobs of a request would add to the usage of their account. */
export type UsageOfNewJobs = {
  jobs: number
  /** Number of media files that the jobs download from URLs. */
  fetches: number
  /** Size of the files that the request uploads in its body, in bytes. */
  uploadBytes: number
  /** UTC day on which the job counts as usage, in the format `YYYY-MM-DD`. */
  day: string
}

/**
 * Limit that a new job exceeds or, if the job exceeds none, the limit that it uses up most: the
 * allowed amount, the used amount, and the amount that the job adds (`asked`).
 */
export type ExceededLimit = {
  limit: Extract<LimitName, "waiting_jobs" | "fetches_per_day" | "storage_bytes">
  allowed: number
  used: number
  asked: number
}

/** Usage of an account, from one read of the database. */
export type AccountUsage = {
  runningJobs: number
  waitingJobs: number
  storageBytes: number
  /**
   * Bytes that unfinished resumable uploads reserve. They count as used storage only for a job
   * whose request uploads a file.
   */
  reservedBytes: number
  /** Number of media files that the account's jobs downloaded from URLs on the requested day. */
  fetches: number
}

/** Returns the UTC day of a time as `YYYY-MM-DD`. */
export function formatUtcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/**
 * Returns SQL that selects the account's id if a new job stays within the limits and the account is
 * not deleted, else null. A null violates NOT NULL, so that the batch that inserts the job fails.
 * D1 runs batches one after another, so that two new jobs cannot use the same remaining amount.
 */
export function accountIdIfWithinLimitsSql(
  accountId: string,
  limits: NewJobLimits,
  demand: UsageOfNewJobs,
): SQL {
  const { waitingJobsMax, fetchesPerDay, storageBytesMax } = limits
  const { jobs: jobCount, fetches, uploadBytes, day } = demand
  const conditions = [
    sql`${countJobs(accountId, "waiting")} + ${jobCount} <= ${waitingJobsMax}`,
    uploadBytes > 0
      ? sql`${storedFileBytesSql(accountId)} + ${reservedUploadBytesSql(accountId)} + ${uploadBytes} <= ${storageBytesMax}`
      : sql`${storedFileBytesSql(accountId)} < ${storageBytesMax}`,
    ...(fetches > 0 ? [sql`${countFetches(accountId, day)} + ${fetches} <= ${fetchesPerDay}`] : []),
  ]
  return sql`(select id from ${accounts} where id = ${accountId} and deleted_at is null and ${sql.join(conditions, sql` and `)})`
}

/**
 * Reports whether a batch failed because the new job would exceed a limit, or because the account
 * is deleted (`accountIdIfWithinLimitsSql`).
 */
export function isLimitExceededError(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/NOT NULL constraint failed: jobs\.account_id\b/.test(at.message)) return true
  }
  return false
}

/**
 * Reads the usage and the name of an account. Returns null if the account does not exist or is
 * deleted.
 */
export async function readAccountUsage(
  { accountId, sql: database }: AccountDatabase,
  day: string,
): Promise<(AccountUsage & { name: string }) | null> {
  const [row] = await database
    .select({
      name: accounts.name,
      runningJobs: countJobs(accountId, "running"),
      waitingJobs: countJobs(accountId, "waiting"),
      storageBytes: storedFileBytesSql(accountId),
      reservedBytes: reservedUploadBytesSql(accountId),
      fetches: countFetches(accountId, day),
    })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletedAt)))
    .limit(1)
  return row ?? null
}

/**
 * Returns the bytes of an account's stored files plus the bytes that its unfinished uploads
 * reserve.
 */
export async function readUsedStorageBytes({
  accountId,
  sql: database,
}: AccountDatabase): Promise<number> {
  const used = sql<number>`${storedFileBytesSql(accountId)} + ${reservedUploadBytesSql(accountId)}`
  const [row] = await database.select({ used }).from(sql`json_each('[1]')`)
  return row?.used ?? 0
}

/**
 * Compares a new job with the limits of its account. Returns the limit of which the job would use
 * the largest share. `exceeded` reports whether that share is above 1.
 */
export function findMostUsedLimit(
  limits: NewJobLimits,
  use: AccountUsage,
  { jobs: jobCount, fetches, uploadBytes }: UsageOfNewJobs,
): { exceeded: boolean; nearest: ExceededLimit } {
  const { waitingJobsMax, fetchesPerDay, storageBytesMax } = limits
  const least = Math.max(1, uploadBytes)
  const jobsPart = (use.waitingJobs + jobCount) / waitingJobsMax
  const usedBytes = use.storageBytes + (uploadBytes > 0 ? use.reservedBytes : 0)
  const bytesPart = (usedBytes + least) / storageBytesMax
  const fetchesPart = fetches === 0 ? 0 : (use.fetches + fetches) / fetchesPerDay
  const largest = Math.max(jobsPart, bytesPart, fetchesPart)
  return { exceeded: largest > 1, nearest: nearestOf() }

  function nearestOf(): ExceededLimit {
    if (largest === fetchesPart) {
      const usedFetches = use.fetches
      return { limit: "fetches_per_day", allowed: fetchesPerDay, used: usedFetches, asked: fetches }
    }
    if (largest === bytesPart) {
      const allowed = storageBytesMax
      return { limit: "storage_bytes", allowed, used: usedBytes, asked: uploadBytes }
    }
    return {
      limit: "waiting_jobs",
      allowed: waitingJobsMax,
      used: use.waitingJobs,
      asked: jobCount,
    }
  }
}

/**
 * Returns SQL that counts an account's jobs in a state. The condition repeats the condition of the
 * partial index on open jobs, because SQLite otherwise does not use the index.
 */
function countJobs(accountId: string, state: "waiting" | "running"): SQL<number> {
  return sql<number>`(select count(*) from ${jobs} where account_id = ${accountId} and state in ('waiting', 'running') and state = ${state})`
}

/** Returns SQL for the bytes that an account's unfinished resumable uploads reserve. */
export function reservedUploadBytesSql(accountId: string): SQL<number> {
  return sql<number>`coalesce((select sum(size_bytes) from ${tusUploads} where account_id = ${accountId} and finished_at is null), 0)`
}

/** Returns SQL for the sum of the sizes of an account's stored files, in bytes. */
export function storedFileBytesSql(accountId: string): SQL<number> {
  return sql<number>`coalesce((select bytes from ${accountStorage} where account_id = ${accountId}), 0)`
}

function countFetches(accountId: string, day: string): SQL<number> {
  return sql<number>`coalesce((select sum(fetches) from ${usageDays} where account_id = ${accountId} and day = ${day}), 0)`
}
