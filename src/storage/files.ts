import { and, eq, isNotNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { memberName } from "../contract/bundle.ts"
import type { Member } from "../contract/bundle.ts"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database } from "./database.ts"
import { memberObjectKey, prefixOf } from "./objects.ts"
import { jobFacts } from "./listed-values.ts"
import { byNewest, isOnPage } from "./paging.ts"
import type { Page } from "./paging.ts"
import { accounts } from "./schema/accounts.ts"
import { files } from "./schema/files.ts"
import type { File } from "./schema/files.ts"
import { jobs } from "./schema/jobs.ts"
import type { Job } from "./schema/jobs.ts"
import { STATES } from "./schema/states.ts"
import type { FileSource, State } from "./schema/states.ts"
import { garbage } from "./schema/uploads.ts"

/**
 * A file and the job that took it in; a file that was an output has none of its own. It goes with the
 * job that made it, at `expiresAt`; null where that is kept, or not over.
 */
export type FileWithJob = { file: File; job: Job | null; expiresAt: number | null }

const expiresAt = sql<
  number | null
>`(select completed_at + retention_ms from jobs owner where owner.id = ${files.jobId})`

/**
 * Files of accounts: those that are stored, and imports, be they still to come or failed. The index of
 * lists (files_listed) says it in the same words, so that it serves.
 */
const isFile = sql`${files.source} not in ('fetch', 'transcript') and (${files.objectKey} is not null or ${files.source} = 'import')`

/** A File of the account; an output still to come is none. */
export async function findFile(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<FileWithJob | null> {
  const [found] = await database
    .select({ file: files, job: jobs, expiresAt })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(and(eq(files.id, id), eq(files.accountId, accountId), isFile))
    .limit(1)
  return found ?? null
}

/** A stored file of the account, what was fetched included; of a bundle without its members. */
export async function findStored(
  { accountId, sql: database }: AccountDatabase,
  fileId: string,
): Promise<File | null> {
  return await selectStored(database, and(eq(files.id, fileId), eq(files.accountId, accountId)))
}

/** The same of a file that is published, as long as its account is neither suspended nor deleted. */
export async function findPublished(database: Database, fileId: string): Promise<File | null> {
  const isServed = sql`exists (select 1 from ${accounts} where ${accounts.id} = ${files.accountId} and suspended_at is null and deleted_at is null)`
  const isWanted = and(eq(files.id, fileId), isNotNull(files.publishedAt), isServed)
  return await selectStored(database, isWanted)
}

async function selectStored(database: Database, isWanted: SQL | undefined): Promise<File | null> {
  const [found] = await database
    .select()
    .from(files)
    .where(and(isWanted, isNotNull(files.objectKey)))
    .limit(1)
  return found ?? null
}

/**
 * Publishes a stored File of the account, or takes that back (`publishedAt` of null); one that is
 * published stays so since when it was. False where there is none such.
 */
export async function setPublished(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  publishedAt: number | null,
): Promise<boolean> {
  const set = publishedAt === null ? null : sql`coalesce(published_at, ${publishedAt})`
  const [changed] = await database.batch([
    database
      .update(files)
      .set({ publishedAt: set })
      .where(
        and(eq(files.id, id), eq(files.accountId, accountId), isFile, isNotNull(files.objectKey)),
      )
      .returning({ id: files.id }),
    // What tells of the end of its job, if that is still to come, says so too.
    database
      .update(jobs)
      .set({ version: sql`version + 1` })
      .where(
        and(
          sql`${jobs.id} = (select job_id from ${files} where id = ${id})`,
          eq(jobs.accountId, accountId),
          sql`${jobs.state} in ('waiting', 'running')`,
        ),
      ),
  ])
  return changed.length === 1
}

/** A job of the account, null where there is none such, and those of its stored files that have a name. */
export async function findJobWithFiles(
  { accountId, sql: database }: AccountDatabase,
  jobId: string,
  name: string,
): Promise<{ job: Job | null; files: File[] }> {
  const isNamed = and(eq(files.jobId, jobs.id), eq(files.name, name), isNotNull(files.objectKey))
  const rows = await database
    .select({ job: jobs, file: files })
    .from(jobs)
    .leftJoin(files, isNamed)
    .where(and(eq(jobs.id, jobId), eq(jobs.accountId, accountId)))
  return { job: rows[0]?.job ?? null, files: rows.flatMap(({ file }) => file ?? []) }
}

/**
 * The first member of a stored bundle that has one of the names: R2 has the list of members, and each
 * object of theirs says itself what it is.
 */
export async function findMember(
  bucket: R2Bucket,
  { objectKey, bundleObjectKey }: File,
  names: readonly string[],
): Promise<Omit<Member, "crc32"> | null> {
  if (objectKey === null || bundleObjectKey === null) return null
  for (const name of new Set(names)) {
    if (!memberName.safeParse(name).success) continue
    const object = await bucket.head(memberObjectKey(objectKey, name))
    const content_type = object?.httpMetadata?.contentType ?? "application/octet-stream"
    if (object) return { name, size_bytes: object.size, content_type }
  }
  return null
}

/** Those of the named files that are Files of the account, without members; others are left out. */
export async function findFiles(
  database: AccountDatabase,
  ids: readonly string[],
): Promise<File[]> {
  return await selectFiles(database, ids)
}

/** The statement of `findFiles`. */
export function selectFiles({ accountId, sql: database }: AccountDatabase, ids: readonly string[]) {
  return database
    .select()
    .from(files)
    .where(
      and(
        sql`${files.id} in (select value from json_each(${JSON.stringify(ids)}))`,
        // By their ids, and not by an index of the account, of which nothing else is asked: hence the +.
        sql`+${files.accountId} = ${accountId}`,
        isFile,
      ),
    )
}

/** Which files to list; all where nothing is named. */
export type FileFilter = {
  source?: FileSource | undefined
  states?: readonly State[] | undefined
}

/** Files of the account, newest first, as their rows are: without members of bundles, and streams of many. */
export async function listFiles(
  { accountId, sql: database }: AccountDatabase,
  { source, states = STATES }: FileFilter,
  page: Page,
): Promise<FileWithJob[]> {
  const ofSource = source === undefined ? undefined : eq(files.source, source)
  const where = and(eq(files.accountId, accountId), ofSource, isFile)
  const rows = await database
    .select({ file: files, job: jobFacts, expiresAt })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(isOnPage(files, states, { where, page }))
  return rows.toSorted((one, other) => byNewest(one.file, other.file))
}

/**
 * Removes a file without a job of its own, whose objects become garbage. A task that reads it
 * keeps the bytes until it is done. One that a job still brings in is gone for a transition of that
 * job which was computed before.
 */
export async function removeFile(
  { accountId, sql: database }: AccountDatabase,
  file: File,
  now: number,
): Promise<void> {
  const left = file.objectKey === null ? [] : [prefixOf(file.objectKey)]
  await runBatch(database, [
    ...left.map((prefix) =>
      database
        .insert(garbage)
        .values({ prefix, fileId: file.id, dueAt: now })
        .onConflictDoNothing(),
    ),
    database.delete(files).where(and(eq(files.id, file.id), eq(files.accountId, accountId))),
    database
      .update(jobs)
      .set({ version: sql`version + 1` })
      .where(
        and(
          eq(jobs.id, file.jobId),
          eq(jobs.accountId, accountId),
          sql`${jobs.state} in ('waiting', 'running')`,
        ),
      ),
  ])
}
