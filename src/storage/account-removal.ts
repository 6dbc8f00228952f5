import { and, asc, eq, gt, gte, inArray, lt, lte, ne, notInArray, or, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"
import { z } from "zod"
import { runBatch } from "./database.ts"
import type { AccountDatabases, Database, Statement } from "./database.ts"
import { accountPrefix } from "./objects.ts"
import { accounts, keys } from "./schema/accounts.ts"
import { deliveries, deliveryTries } from "./schema/deliveries.ts"
import { files } from "./schema/files.ts"
import { idempotency, jobs, metadataLookups } from "./schema/jobs.ts"
import { receiverOutages } from "./schema/operations.ts"
import { OPEN_STATES } from "./schema/states.ts"
import { taskInputs, tasks, taskSecrets } from "./schema/tasks.ts"
import { garbage, uploads } from "./schema/uploads.ts"
import { accountStorage, usageDays } from "./schema/usage.ts"
import { credentials, invitations, sessions, users, verifications } from "./schema/users.ts"

/** An account that is being deleted. */
export type DeletedAccount = { id: string; deletedAt: number }

/**
 * Marks an account as deleted, revokes its keys and removes its users with all that lets them sign
 * in; its name and their addresses are free at once. Answers the hashes of its keys, null where there
 * is no such account. Repeating it changes nothing.
 */
export async function markDeleted(
  database: Database,
  accountId: string,
  now: number,
): Promise<string[] | null> {
  const [marked, held] = await database.batch([
    database
      .update(accounts)
      .set({ deletedAt: sql`coalesce(deleted_at, ${now})`, purgeAt: now, name: accountId })
      .where(eq(accounts.id, accountId))
      .returning({ id: accounts.id }),
    database
      .update(keys)
      .set({ revokedAt: sql`coalesce(revoked_at, ${now})` })
      .where(eq(keys.accountId, accountId))
      .returning({ hash: keys.hash }),
    ...removalOfUsers(database, accountId),
  ])
  return marked.length === 0 ? null : held.map(({ hash }) => hash)
}

/** Statements that remove the users of an account, and invitations of their confirmed addresses. */
function removalOfUsers(database: Database, accountId: string): Statement[] {
  const isTheirs = eq(users.accountId, accountId)
  const ids = database.select({ id: users.id }).from(users).where(isTheirs)
  const emails = database
    .select({ email: users.email })
    .from(users)
    .where(and(isTheirs, sql`email_verified <> 0`))
  return [
    database.delete(invitations).where(inArray(invitations.email, emails)),
    database.delete(verifications).where(inArray(verifications.value, ids)),
    database.delete(sessions).where(inArray(sessions.userId, ids)),
    database.delete(credentials).where(inArray(credentials.userId, ids)),
    database.delete(users).where(isTheirs),
  ]
}

/**
 * Deleted accounts of which something is to be removed now, the longest due first. None is put off
 * by more than `aheadMsMax`: one that is was so by a clock that was ahead.
 */
export async function listDeletedDue(
  database: Database,
  { now, aheadMsMax, limit }: { now: number; aheadMsMax: number; limit: number },
): Promise<DeletedAccount[]> {
  const isDue = or(lte(accounts.purgeAt, now), gt(accounts.purgeAt, now + aheadMsMax))
  return await database
    .select({ id: accounts.id, deletedAt: sql<number>`coalesce(${accounts.deletedAt}, 0)` })
    .from(accounts)
    .where(and(sql`purge_at is not null`, isDue))
    .orderBy(asc(accounts.purgeAt))
    .limit(limit)
}

/** Says when the next step of a deletion is due. */
export async function postponePurge(
  database: Database,
  accountId: string,
  purgeAt: number,
): Promise<void> {
  await database.update(accounts).set({ purgeAt }).where(eq(accounts.id, accountId))
}

/** Open jobs of a deleted account with how many tasks they have; none of an account that is not. */
export async function listOpenJobsOfDeleted(
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

/** What is left of an account, but for the account itself and its keys. */
export type LeftOfAccount = { openJobs: boolean; deliveries: boolean; rows: boolean }

export async function findLeft(database: Database, accountId: string): Promise<LeftOfAccount> {
  const open = sql`exists (select 1 from ${jobs} where ${jobs.accountId} = ${accountId} and ${jobs.state} in ('waiting', 'running'))`
  const [left] = await database
    .select({
      openJobs: sql`${open}`.mapWith(Boolean),
      deliveries: isAnyIn(deliveries, accountId).mapWith(Boolean),
      rows: sql`${sql.join([isAnyUpload(accountId), ...[jobs, ...PLAIN_TABLES].map((table) => isAnyIn(table, accountId))], sql` or `)}`.mapWith(
        Boolean,
      ),
    })
    .from(sql`json_each('[1]')`)
  return left ?? { openJobs: false, deliveries: false, rows: false }
}

/** Files of an account are in two indexes, whose words these are. */
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

/** Uploads are indexed by their objects, which lie below the account's prefix. */
function isAnyUpload(accountId: string): SQL {
  const { objectKey } = uploads
  return sql`exists (select 1 from ${uploads} where ${isBelow(objectKey, accountPrefix(accountId))})`
}

function isBelow(column: SQLiteColumn, prefix: string): SQL | undefined {
  return and(gte(column, prefix), lt(column, `${prefix}\uffff`))
}

/** Removes up to `limit` jobs of an account with all that is theirs; open ones where `isForced`. */
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
 * Removes up to `limit` webhooks of an account with their tries, those that wait for one where
 * `isForced`; answers how many.
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

/** Tables of which every row names its account, and no other row is its. */
const PLAIN_TABLES = [files, idempotency, metadataLookups, usageDays, receiverOutages] as const

/** Removes up to `limit` rows of each table whose rows are the account's alone. */
export async function deleteSomeRows(
  database: Database,
  accountId: string,
  limit: number,
): Promise<void> {
  const ofFiles = [LISTED, UNLISTED].map((which) => ({ table: files, which }))
  const ofOthers = PLAIN_TABLES.flatMap((table) =>
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
 * Removes the account itself with its keys and what may have come since `markDeleted`, not while it
 * has a job, a file, an upload or a webhook. True where it is gone.
 */
export async function deleteAccountRow(database: AccountDatabases): Promise<boolean> {
  const { accountId, sql: own, directory } = database
  const isEmpty = sql`not ${isAnyUpload(accountId)} and not ${sql.join(
    [jobs, files, deliveries].map((table) => isAnyIn(table, accountId)),
    sql` and not `,
  )}`
  await runBatch(directory, [
    ...removalOfUsers(directory, accountId),
    directory.delete(keys).where(eq(keys.accountId, accountId)),
  ])
  const results = await runBatch(own, [
    own.delete(garbage).where(isBelow(garbage.prefix, accountPrefix(accountId))),
    own.delete(accountStorage).where(eq(accountStorage.accountId, accountId)),
    // Without this row no job is admitted any more, whether it is the account's own or its copy.
    own.delete(accounts).where(and(eq(accounts.id, accountId), isEmpty)),
    own.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)),
  ])
  if (z.array(z.unknown()).parse(results.at(-1)).length > 0) return false
  await directory.delete(accounts).where(eq(accounts.id, accountId))
  return true
}
