import { and, eq, isNotNull, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { bundleMemberNameSchema } from "../../contract/bundle.ts"
import type { BundleMember } from "../../contract/bundle.ts"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Database } from "../database.ts"
import { makeMemberObjectKey, getFileKeyPrefix } from "../../domain/object-keys.ts"
import { jobColumnsWithoutRequestAndResult } from "../values/listed-jobs.ts"
import { compareNewestFirst, buildStatesPageCondition, metadataPageCondition } from "../paging.ts"
import type { MetadataFilter, ListPageQuery } from "../paging.ts"
import { accounts } from "../schema/accounts.ts"
import { files } from "../schema/files.ts"
import type { File } from "../schema/files.ts"
import { jobs } from "../schema/jobs.ts"
import type { Job } from "../schema/jobs.ts"
import { STATES } from "../../domain/states.ts"
import type { FileSource, State } from "../../domain/states.ts"
import { garbage } from "../schema/uploads.ts"
import type { FileWithJob } from "../../domain/snapshot.ts"

const expiresAt = sql<
  number | null
>`(select completed_at + retention_ms from jobs owner where owner.id = ${files.jobId})`

/**
 * SQL condition that selects the Files of accounts: stored files, and imports in any state. SQLite
 * uses the partial index `files_listed` because the index has the same condition.
 */
export const fileListingCondition = sql`${files.source} not in ('fetch', 'transcript') and (${files.objectKey} is not null or ${files.source} = 'import')`

/**
 * Returns a File of the account with its job; null if there is none. A job's output becomes a File
 * when its object is stored.
 */
export async function findFile(
  { accountId, sql: database }: AccountDatabase,
  id: string,
): Promise<FileWithJob | null> {
  const [row] = await database
    .select({ file: files, job: jobs, expiresAt })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(and(eq(files.id, id), eq(files.accountId, accountId), fileListingCondition))
    .limit(1)
  return row ?? null
}

/**
 * Returns a stored file of the account, which may be a fetched medium. The members of a bundle are
 * omitted.
 */
export async function findStoredFile(
  { accountId, sql: database }: AccountDatabase,
  fileId: string,
): Promise<File | null> {
  return await selectStored(database, and(eq(files.id, fileId), eq(files.accountId, accountId)))
}

/**
 * Returns a published file; null if the file is not published, or its account is suspended or
 * deleted.
 */
export async function findPublishedFile(database: Database, fileId: string): Promise<File | null> {
  const isServed = sql`exists (select 1 from ${accounts} where ${accounts.id} = ${files.accountId} and suspended_at is null and deleted_at is null)`
  const isWanted = and(eq(files.id, fileId), isNotNull(files.publishedAt), isServed)
  return await selectStored(database, isWanted)
}

async function selectStored(database: Database, isWanted: SQL | undefined): Promise<File | null> {
  const [row] = await database
    .select()
    .from(files)
    .where(and(isWanted, isNotNull(files.objectKey)))
    .limit(1)
  return row ?? null
}

/**
 * Publishes a stored File of the account, or ends its publication if `publishedAt` is null. A file
 * that is already published keeps its time. Returns false if there is no such file.
 */
export async function setFilePublishedAt(
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
        and(
          eq(files.id, id),
          eq(files.accountId, accountId),
          fileListingCondition,
          isNotNull(files.objectKey),
        ),
      )
      .returning({ id: files.id }),
    // Raises the version of an open job, so that its webhook includes `public_url`. When a
    // publication ends, also resets `publish` of the job, because `publish` applies to all Files of
    // the job together.
    database
      .update(jobs)
      .set({
        version: sql`version + (state in ('waiting', 'running'))`,
        ...(publishedAt === null && { publish: null }),
      })
      .where(
        and(
          sql`${jobs.id} = (select job_id from ${files} where id = ${id})`,
          eq(jobs.accountId, accountId),
          publishedAt === null
            ? sql`(${jobs.state} in ('waiting', 'running') or publish is not null)`
            : sql`${jobs.state} in ('waiting', 'running')`,
        ),
      ),
  ])
  return changed.length === 1
}

/**
 * Returns a job of the account, and the job's stored files with the given name. `job` is null if
 * the account has no such job.
 */
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
 * Returns the first of `names` that is a member of a stored bundle; null if the bundle has none of
 * these members. Reads the R2 object of the member, because the list of members may be large.
 */
export async function findBundleMember(
  bucket: R2Bucket,
  { objectKey, bundleObjectKey }: File,
  names: readonly string[],
): Promise<Omit<BundleMember, "crc32"> | null> {
  if (objectKey === null || bundleObjectKey === null) return null
  for (const name of new Set(names)) {
    if (!bundleMemberNameSchema.safeParse(name).success) continue
    const object = await bucket.head(makeMemberObjectKey(objectKey, name))
    const content_type = object?.httpMetadata?.contentType ?? "application/octet-stream"
    if (object) return { name, size_bytes: object.size, content_type }
  }
  return null
}

/** Filter of a list of files. A filter without fields selects all Files of the account. */
export type FileFilter = {
  source?: FileSource | undefined
  name?: string | undefined
  states?: readonly State[] | undefined
  /** Key and value that the metadata of the File's job must contain. */
  pair?: MetadataFilter | undefined
}

/**
 * Returns a page of the account's Files, newest first. The result omits the members of bundles, and
 * the streams of probes that are too large for their rows.
 */
export async function listFiles(
  { accountId, sql: database }: AccountDatabase,
  { source, name, states = STATES, pair }: FileFilter,
  page: ListPageQuery,
): Promise<FileWithJob[]> {
  const ofName = name === undefined ? undefined : eq(files.name, name)
  // The unary `+` prevents the use of the index on `account_id`, so that SQLite looks up rows by
  // id.
  const sourceColumn = ofName ? sql`+${files.source}` : files.source
  const ofSource = source === undefined ? undefined : sql`${sourceColumn} = ${source}`
  const where = and(eq(files.accountId, accountId), ofName, ofSource, fileListingCondition)
  const rows = await database
    .select({ file: files, job: jobColumnsWithoutRequestAndResult, expiresAt })
    .from(files)
    .leftJoin(jobs, eq(jobs.id, files.id))
    .where(
      pair
        ? metadataPageCondition(files, states, { where, page, accountId, pair })
        : buildStatesPageCondition(files, states, { where, page }),
    )
  return rows.toSorted((one, other) => compareNewestFirst(one.file, other.file))
}

/**
 * Removes a file that has no job with the same id. The file's objects become garbage; a running
 * task can read these objects until the task ends. If an open job imports the file, the version of
 * that job rises, so that transitions from earlier snapshots fail.
 */
export async function removeFile(
  { accountId, sql: database }: AccountDatabase,
  file: File,
  now: number,
): Promise<void> {
  const prefixes = file.objectKey === null ? [] : [getFileKeyPrefix(file.objectKey)]
  await runBatch(database, [
    ...prefixes.map((prefix) =>
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
