import { and, eq, isNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { LimitName } from "../plan-fields.ts"
import type { Limits } from "../plans.ts"
import type { AccountDatabase } from "./database.ts"
import { accounts } from "./schema/accounts.ts"
import { jobs } from "./schema/jobs.ts"
import { accountStorage, usageDays } from "./schema/usage.ts"

/** The limits that a create may exceed. */
export type CreateLimits = Pick<Limits, "waitingJobsMax" | "fetchesPerDay" | "storageBytesMax">

/** What a new job adds to the use of its account. */
export type Demand = {
  /** Media that it is to bring in from URLs. */
  fetches: number
  /** Bytes that its request brought. */
  uploadBytes: number
  /** The day that it counts on, as `dayOf` writes it. */
  day: string
}

/** A limit that a create would exceed: what it allows, what is used, and what was to be added. */
export type Exceeded = {
  limit: Extract<LimitName, "waiting_jobs" | "fetches_per_day" | "storage_bytes">
  allowed: number
  used: number
  asked: number
}

/** What an account uses at a moment. */
export type AccountUse = {
  runningJobs: number
  waitingJobs: number
  storageBytes: number
  /** On the day that was asked. */
  fetches: number
}

/** The day of a moment, UTC: `YYYY-MM-DD`. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/**
 * The account's id where a new job keeps within the limits and the account is not deleted, else null:
 * NOT NULL then makes the insert of its row fail, and the batch around it as a whole. D1 runs one
 * batch at a time, so that no two creates see the same room.
 */
export function admittedAccountId(accountId: string, limits: CreateLimits, demand: Demand): SQL {
  const { waitingJobsMax, fetchesPerDay, storageBytesMax } = limits
  const { fetches, uploadBytes, day } = demand
  const conditions = [
    sql`${countJobs(accountId, "waiting")} < ${waitingJobsMax}`,
    sql`${storedBytes(accountId)} + ${Math.max(1, uploadBytes)} <= ${storageBytesMax}`,
    ...(fetches > 0 ? [sql`${countFetches(accountId, day)} + ${fetches} <= ${fetchesPerDay}`] : []),
  ]
  return sql`(select id from ${accounts} where id = ${accountId} and deleted_at is null and ${sql.join(conditions, sql` and `)})`
}

/** Whether a batch failed because its job was not admitted. */
export function isNotAdmitted(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/NOT NULL constraint failed: jobs\.account_id\b/.test(at.message)) return true
  }
  return false
}

/** What an account uses, with its name, in one read; null where there is none, or it is deleted. */
export async function readAccountUse(
  { accountId, sql: database }: AccountDatabase,
  day: string,
): Promise<(AccountUse & { name: string }) | null> {
  const [row] = await database
    .select({
      name: accounts.name,
      runningJobs: countJobs(accountId, "running"),
      waitingJobs: countJobs(accountId, "waiting"),
      storageBytes: storedBytes(accountId),
      fetches: countFetches(accountId, day),
    })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletedAt)))
    .limit(1)
  return row ?? null
}

/** Bytes that an account stores. */
export async function readStoredBytes({ accountId, sql: db }: AccountDatabase): Promise<number> {
  const [row] = await db
    .select({ bytes: accountStorage.bytes })
    .from(accountStorage)
    .where(eq(accountStorage.accountId, accountId))
    .limit(1)
  return row?.bytes ?? 0
}

/** The limit of which a new job would use the largest part; `exceeded` where it is too much. */
export function judgeDemand(
  limits: CreateLimits,
  use: AccountUse,
  { fetches, uploadBytes }: Demand,
): { exceeded: boolean; nearest: Exceeded } {
  const { waitingJobsMax, fetchesPerDay, storageBytesMax } = limits
  const least = Math.max(1, uploadBytes)
  const jobsPart = (use.waitingJobs + 1) / waitingJobsMax
  const bytesPart = (use.storageBytes + least) / storageBytesMax
  const fetchesPart = fetches === 0 ? 0 : (use.fetches + fetches) / fetchesPerDay
  const largest = Math.max(jobsPart, bytesPart, fetchesPart)
  return { exceeded: largest > 1, nearest: nearestOf() }

  function nearestOf(): Exceeded {
    if (largest === fetchesPart) {
      const used = use.fetches
      return { limit: "fetches_per_day", allowed: fetchesPerDay, used, asked: fetches }
    }
    if (largest === bytesPart) {
      const used = use.storageBytes
      return { limit: "storage_bytes", allowed: storageBytesMax, used, asked: uploadBytes }
    }
    return { limit: "waiting_jobs", allowed: waitingJobsMax, used: use.waitingJobs, asked: 1 }
  }
}

/** Counts by the index of open jobs, which holds what its first condition names. */
function countJobs(accountId: string, state: "waiting" | "running"): SQL<number> {
  return sql<number>`(select count(*) from ${jobs} where account_id = ${accountId} and state in ('waiting', 'running') and state = ${state})`
}

function storedBytes(accountId: string): SQL<number> {
  return sql<number>`coalesce((select bytes from ${accountStorage} where account_id = ${accountId}), 0)`
}

function countFetches(accountId: string, day: string): SQL<number> {
  return sql<number>`coalesce((select sum(fetches) from ${usageDays} where account_id = ${accountId} and day = ${day}), 0)`
}
