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
 * SQL condition that selects the files that the API lists: stored files except media of fetch jobs
 * and transcripts, and imports in any state. The partial index `files_listed` has the same
 * condition, so that SQLite can use the index.
 */
export const fileListingCondition = sql`${files.source} not in ('fetch', 'transcript') and (${files.objectKey} is not null or ${files.source} = 'import')`

/**
 * Returns a file that the API lists, with its job; null if the account has no such file. An output
 * of a job is listed once its object is stored.
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
 * Returns a stored file of the account; a file that a fetch job downloaded counts too. The list of
 * a bundle's members is not read.
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
 * Publishes a stored file that the API lists, or ends its publication if `publishedAt` is null. A
 * file that is already published keeps its time of publication. Returns false if the account has no
 * such file.
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
    // Raises the version of an open job, so that a transition computed before is computed again and
    // the job's webhook includes `public_url`. When a publication ends, also resets `publish` of
    // the job, because that flag stands for all listed files of the job together.
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
 * these members. Looks up the member's own R2 object instead of reading the bundle's list of
 * members, which may be large.
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

/** Filter of a list of files. A filter without fields selects all listed files of the account. */
export type FileFilter = {
  source?: FileSource | undefined
  name?: string | undefined
  states?: readonly State[] | undefined
  /** Key and value that the metadata of the file's job must contain. */
  pair?: MetadataFilter | undefined
}

/**
 * Returns a page of the account's listed files, newest first. Values that R2 holds because they are
 * too large for a row are not read: the members of bundles, and the streams of large probes.
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
 * Removes a file that was not uploaded or imported by a job of its own, such as an output. A
 * running task can read the file's objects until the task ends. The version of an open job that
 * imports the file rises, so that transitions from earlier snapshots fail.
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
