import { and, asc, eq, gte, inArray, lt, lte, ne, notInArray, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"
import { z } from "zod"
import { runBatch } from "../database.ts"
import type { AccountDatabases, Database, Statement } from "../database.ts"
import { makeAccountKeyPrefix } from "../../domain/object-keys.ts"
import { accounts, apiKeys } from "../schema/accounts.ts"
import { deliveries, deliveryTries } from "../schema/deliveries.ts"
import { files } from "../schema/files.ts"
import { batches } from "../schema/batches.ts"
import {
  idempotencyKeys,
  jobDependencies,
  jobMetadata,
  jobs,
  metadataLookups,
} from "../schema/jobs.ts"
import { receiverOutages } from "../schema/operations.ts"
import { OPEN_STATES } from "../../domain/states.ts"
import { taskInputs, tasks, taskSecrets } from "../schema/tasks.ts"
import { garbage, tusUploads, uploadLinks, uploads } from "../schema/uploads.ts"
import { accountStorage, usageDays } from "../schema/usage.ts"
import { credentials, invitations, sessions, users, mailedLinkTokens } from "../schema/users.ts"

/** Deleted account, and the time at which its deletion began. */
export type DeletedAccount = { id: string; deletedAt: number }

/**
 * Marks an account as deleted, revokes its keys, and removes its users with their credentials.
 * Others may then use the account's name and the users' emails. Returns the hashes of the account's
 * keys; null if the account does not exist. A repeated call has no further effect.
 */
export async function markAccountDeleted(
  database: Database,
  accountId: string,
  now: number,
): Promise<string[] | null> {
  const [marked, remaining] = await database.batch([
    database
      .update(accounts)
      .set({ deletedAt: sql`coalesce(deleted_at, ${now})`, purgeAt: now, name: accountId })
      .where(eq(accounts.id, accountId))
      .returning({ id: accounts.id }),
    database
      .update(apiKeys)
      .set({ revokedAt: sql`coalesce(revoked_at, ${now})` })
      .where(eq(apiKeys.accountId, accountId))
      .returning({ hash: apiKeys.hash }),
    ...removalOfUsers(database, accountId),
  ])
  return marked.length === 0 ? null : remaining.map(({ hash }) => hash)
}

/**
 * Returns statements that remove the users of an account, and the pending invitations for the
 * users' confirmed emails.
 */
function removalOfUsers(database: Database, accountId: string): Statement[] {
  const isTheirs = eq(users.accountId, accountId)
  const ids = database.select({ id: users.id }).from(users).where(isTheirs)
  const emails = database
    .select({ email: users.email })
    .from(users)
    .where(and(isTheirs, sql`email_verified <> 0`))
  return [
    database.delete(invitations).where(inArray(invitations.email, emails)),
    database.delete(mailedLinkTokens).where(inArray(mailedLinkTokens.value, ids)),
    database.delete(sessions).where(inArray(sessions.userId, ids)),
    database.delete(credentials).where(inArray(credentials.userId, ids)),
    database.delete(users).where(isTheirs),
  ]
}

/** Returns deleted accounts with data whose removal is due, the longest overdue first. */
export async function listAccountsToPurge(
  database: Database,
  { now, limit }: { now: number; limit: number },
): Promise<DeletedAccount[]> {
  return await database
    .select({ id: accounts.id, deletedAt: sql<number>`coalesce(${accounts.deletedAt}, 0)` })
    .from(accounts)
    .where(and(sql`purge_at is not null`, lte(accounts.purgeAt, now)))
    .orderBy(asc(accounts.purgeAt))
    .limit(limit)
}

/** Sets the time at which the sweep removes the next part of a deleted account's data. */
export async function postponeAccountPurge(
  database: Database,
  accountId: string,
  purgeAt: number,
): Promise<void> {
  await database.update(accounts).set({ purgeAt }).where(eq(accounts.id, accountId))
}

/**
 * Returns the open jobs of a deleted account, with the number of tasks of each job. Returns an
 * empty list for an account that is not deleted.
 */
export async function listOpenJobsOfDeletedAccount(
  database: Database,
  accountId: string,
  limit: number,
): Promise<{ jobId: string; taskCount: number }[]> {
  return await database
    .select({
      jobId: jobs.id,
      taskCount: sql<number>`(select count(*) from tasks where tasks.job_id = ${jobs.id})`,
    })
    .from(jobs)
    .innerJoin(accounts, eq(accounts.id, jobs.accountId))
    .where(
      and(
        eq(jobs.accountId, accountId),
        sql`${jobs.state} in ('waiting', 'running')`,
        sql`${accounts.deletedAt} is not null`,
      ),
    )
    .limit(limit)
}

/** Types of data that a deleted account still has, besides its own row and its keys. */
export type RemainingAccountData = { openJobs: boolean; deliveries: boolean; rows: boolean }

/** Returns which types of data a deleted account still has in a database. */
export async function findRemainingAccountData(
  database: Database,
  accountId: string,
): Promise<RemainingAccountData> {
  const open = sql`exists (select 1 from ${jobs} where ${jobs.accountId} = ${accountId} and ${jobs.state} in ('waiting', 'running'))`
  const [row] = await database
    .select({
      openJobs: sql`${open}`.mapWith(Boolean),
      deliveries: isAnyIn(deliveries, accountId).mapWith(Boolean),
      rows: sql`${sql.join([isAnyUpload(accountId), ...[jobs, ...INDEPENDENT_TABLES].map((table) => isAnyIn(table, accountId))], sql` or `)}`.mapWith(
        Boolean,
      ),
    })
    .from(sql`json_each('[1]')`)
  return row ?? { openJobs: false, deliveries: false, rows: false }
}

/**
 * SQL conditions of two partial indexes on `files`, which together contain all files of an account.
 */
const LISTED = sql`source not in ('fetch', 'transcript') and (object_key is not null or source = 'import')`
const UNLISTED = sql`(source in ('fetch', 'transcript') or (object_key is null and source <> 'import'))`

function isAnyIn(table: SQLiteTable & { accountId: SQLiteColumn }, accountId: string): SQL {
  if (table === files) {
    const [listed, unlisted] = [LISTED, UNLISTED].map(
      (which) => sql`exists (select 1 from ${files} where account_id = ${accountId} and ${which})`,
    )
    return sql`(${listed} or ${unlisted})`
  }
  return sql`exists (select 1 from ${table} where ${table.accountId} = ${accountId})`
}

/**
 * Returns the SQL condition that the account has an upload. Selects uploads by R2 key, which begins
 * with the account's prefix, because the index on uploads is by R2 key.
 */
function isAnyUpload(accountId: string): SQL {
  const { objectKey } = uploads
  return sql`exists (select 1 from ${uploads} where ${isBelow(objectKey, makeAccountKeyPrefix(accountId))})`
}

function isBelow(column: SQLiteColumn, prefix: string): SQL | undefined {
  return and(gte(column, prefix), lt(column, `${prefix}\uffff`))
}

/**
 * Removes at most `limit` jobs of an account with their tasks. Skips open jobs unless `isForced` is
 * true.
 */
export async function deleteSomeJobs(
  database: Database,
  accountId: string,
  { limit, isForced }: { limit: number; isForced: boolean },
): Promise<void> {
  const isRemovable = isForced ? undefined : notInArray(jobs.state, [...OPEN_STATES])
  const some = await database
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.accountId, accountId), isRemovable))
    .limit(limit)
  if (some.length === 0) return
  const ids = sql`(select value from json_each(${JSON.stringify(some.map(({ id }) => id))}))`
  const theirTasks = sql`(select id from tasks where job_id in ${ids})`
  await runBatch(database, [
    database.delete(taskInputs).where(sql`${taskInputs.taskId} in ${theirTasks}`),
    database.delete(taskSecrets).where(sql`${taskSecrets.jobId} in ${ids}`),
    database.delete(tasks).where(sql`${tasks.jobId} in ${ids}`),
    database.delete(jobs).where(sql`${jobs.id} in ${ids}`),
  ])
}

/**
 * Removes at most `limit` webhook deliveries of an account with their tries. Skips waiting
 * deliveries unless `isForced` is true. Returns the number of removed deliveries.
 */
export async function deleteSomeDeliveries(
  database: Database,
  accountId: string,
  { limit, isForced }: { limit: number; isForced: boolean },
): Promise<number> {
  const some = await database
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.accountId, accountId),
        isForced ? undefined : ne(deliveries.state, "waiting"),
      ),
    )
    .limit(limit)
  if (some.length === 0) return 0
  const ids = sql`(select value from json_each(${JSON.stringify(some.map(({ id }) => id))}))`
  await runBatch(database, [
    database.delete(deliveryTries).where(sql`${deliveryTries.deliveryId} in ${ids}`),
    database.delete(deliveries).where(sql`${deliveries.id} in ${ids}`),
  ])
  return some.length
}

/** Tables whose rows contain the account's id and have no dependent rows in other tables. */
const INDEPENDENT_TABLES = [
  batches,
  files,
  idempotencyKeys,
  jobDependencies,
  jobMetadata,
  metadataLookups,
  usageDays,
  receiverOutages,
  tusUploads,
  uploadLinks,
] as const

/** Removes at most `limit` rows of an account from each of INDEPENDENT_TABLES. */
export async function deleteSomeRowsFromEachAccountTable(
  database: Database,
  accountId: string,
  limit: number,
): Promise<void> {
  const ofFiles = [LISTED, UNLISTED].map((which) => ({ table: files, which }))
  const ofOthers = INDEPENDENT_TABLES.flatMap((table) =>
    table === files ? [] : [{ table, which: null }],
  )
  await runBatch(
    database,
    [...ofFiles, ...ofOthers].map(({ table, which }) => {
      const isTheirs = and(eq(table.accountId, accountId), which ?? undefined)
      const some = sql`(select rowid from ${table} where ${isTheirs} limit ${limit})`
      return database.delete(table).where(sql`rowid in ${some}`)
    }),
  )
}

/**
 * Removes the row of a deleted account, its keys, and rows that were written after
 * `markAccountDeleted`. Does nothing if the account still has a job, a file, an upload or a webhook
 * delivery. Returns true if the account's row no longer exists.
 */
export async function deleteAccountRow(database: AccountDatabases): Promise<boolean> {
  const { accountId, sql: own, directory } = database
  const isEmpty = sql`not ${isAnyUpload(accountId)} and not ${sql.join(
    [jobs, files, deliveries].map((table) => isAnyIn(table, accountId)),
    sql` and not `,
  )}`
  await runBatch(directory, [
    ...removalOfUsers(directory, accountId),
    directory.delete(apiKeys).where(eq(apiKeys.accountId, accountId)),
  ])
  const results = await runBatch(own, [
    own.delete(garbage).where(isBelow(garbage.prefix, makeAccountKeyPrefix(accountId))),
    own.delete(accountStorage).where(eq(accountStorage.accountId, accountId)),
    // After this row is deleted, the database refuses new jobs of the account, because each job
    // references the account's row in the job's own database.
    own.delete(accounts).where(and(eq(accounts.id, accountId), isEmpty)),
    own.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)),
  ])
  if (z.array(z.unknown()).parse(results.at(-1)).length > 0) return false
  await directory.delete(accounts).where(eq(accounts.id, accountId))
  return true
}
