import { and, asc, desc, eq, gte, isNotNull, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "../database.ts"
import type { AccountDatabase, Database, Statement } from "../database.ts"
import { tusUploads, uploadParts, uploads } from "../schema/uploads.ts"
import type { Upload } from "../schema/uploads.ts"

/**
 * Inserts the row of an upload before the first byte is written to R2, so that the sweep can find
 * abandoned objects.
 */
export async function insertUpload(
  { accountId, sql: database }: AccountDatabase,
  upload: Omit<typeof uploads.$inferInsert, "accountId">,
): Promise<void> {
  await database
    .insert(uploads)
    .values({ ...upload, accountId })
    .onConflictDoNothing()
}

/**
 * Deletes the row of an upload whose object now belongs to another row or no longer exists. Also
 * deletes the rows of the upload's parts.
 */
export async function deleteUploadRow(database: AccountDatabase, id: string): Promise<void> {
  await deleteUploadRows(database.sql, [id], eq(uploads.accountId, database.accountId))
}

/**
 * Deletes the rows of uploads and of their parts. `condition` can restrict the uploads to those of
 * one account.
 */
export async function deleteUploadRows(
  database: Database,
  ids: readonly string[],
  condition?: SQL,
): Promise<void> {
  if (ids.length === 0) return
  const some = and(isListed(ids), condition)
  const theirs = sql`(select ${uploads.id} from ${uploads} where ${some})`
  await runBatch(database, [
    database.delete(uploadParts).where(sql`${uploadParts.uploadId} in ${theirs}`),
    database.delete(uploads).where(some),
  ])
}

/** Returns the uploads whose object has this R2 key, the newest first. */
export async function listUploadsOfObject(
  { accountId, sql: database }: AccountDatabase,
  objectKey: string,
): Promise<Upload[]> {
  return await database
    .select()
    .from(uploads)
    .where(and(eq(uploads.objectKey, objectKey), eq(uploads.accountId, accountId)))
    .orderBy(desc(uploads.createdAt))
}

/**
 * Sets the age of an upload to zero, so that the sweep does not treat the upload as abandoned.
 * Returns false if the removal of the upload has begun.
 */
export async function renewUpload(
  { accountId, sql: database }: AccountDatabase,
  id: string,
  now: number,
): Promise<boolean> {
  const renewed = await database
    .update(uploads)
    .set({ createdAt: now })
    .where(
      and(eq(uploads.id, id), eq(uploads.accountId, accountId), isNull(uploads.removalTriedAt)),
    )
    .returning({ id: uploads.id })
  return renewed.length === 1
}

/**
 * Returns statements that delete the rows of uploads if `condition` holds. In the same batch, the
 * caller stores the object keys of these uploads in other rows, which then own the objects.
 */
export function deleteCompletedUploadsStatements(
  { accountId, sql: database }: AccountDatabase,
  ids: readonly string[],
  condition?: SQL,
): Statement[] {
  if (ids.length === 0) return []
  return [
    database.delete(uploads).where(and(isListed(ids), eq(uploads.accountId, accountId), condition)),
  ]
}

/**
 * Returns an upload by its R2 key and the id of its multipart upload; null if no upload matches.
 */
export async function findUpload(
  { accountId, sql: database }: AccountDatabase,
  objectKey: string,
  multipartId: string,
): Promise<Upload | null> {
  const [row] = await database
    .select()
    .from(uploads)
    .where(
      and(
        eq(uploads.objectKey, objectKey),
        eq(uploads.accountId, accountId),
        eq(uploads.multipartId, multipartId),
      ),
    )
    .limit(1)
  return row ?? null
}

/** Returns at most `limit` uploads of all accounts whose R2 keys begin with a prefix. */
export async function listUploadsWithPrefix(
  database: Database,
  prefix: string,
  limit?: number,
): Promise<Upload[]> {
  const below = database
    .select()
    .from(uploads)
    .where(and(gte(uploads.objectKey, prefix), lt(uploads.objectKey, `${prefix}\uffff`)))
  return await (limit === undefined ? below : below.limit(limit))
}

/** Returns uploads of all accounts whose R2 keys begin with one of the prefixes. */
export async function listUploadsWithAnyPrefix(
  database: Database,
  prefixes: readonly string[],
): Promise<Upload[]> {
  const below = sql`(select own.id from json_each(${JSON.stringify(prefixes)}) as prefix cross join ${uploads} as own where own.object_key >= prefix.value and own.object_key < prefix.value || ${"\uffff"})`
  return await database
    .select()
    .from(uploads)
    .where(sql`${uploads.id} in ${below}`)
}

/**
 * Returns abandoned uploads of all accounts: first uploads that began before a time, oldest first,
 * then uploads whose removal failed, the least recently tried first.
 */
export async function listAbandonedUploads(
  database: Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
  const [abandoned, tried] = await database.batch([
    selectBegun(database, before, limit),
    database
      .select()
      .from(uploads)
      .where(isNotNull(uploads.removalTriedAt))
      .orderBy(asc(uploads.removalTriedAt))
      .limit(limit),
  ])
  return [...abandoned, ...tried].slice(0, limit)
}

/**
 * Returns uploads of all accounts that began before a time and that one request to the Worker
 * writes from beginning to end. Excludes uploads of tasks and tus uploads, which take several
 * requests.
 */
export async function listSingleRequestUploads(
  database: Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
  return await selectBegun(database, before, limit, and(isNull(uploads.taskId), isNoTusUpload))
}

/**
 * Selects uploads that began before a time and whose removal has not been attempted, oldest first.
 */
function selectBegun(database: Database, before: number, limit: number, condition?: SQL) {
  return database
    .select()
    .from(uploads)
    .where(and(lt(uploads.createdAt, before), isNull(uploads.removalTriedAt), condition))
    .orderBy(asc(uploads.createdAt))
    .limit(limit)
}

/**
 * Marks uploads as being removed. Returns the ids of the uploads whose rows still exist. The
 * objects of the others may belong to a job by now and must stay.
 */
export async function markUploadsForRemoval(
  database: Database,
  ids: readonly string[],
  now: number,
): Promise<string[]> {
  const marked = await database
    .update(uploads)
    .set({ removalTriedAt: now })
    .where(isListed(ids))
    .returning({ id: uploads.id })
  return marked.map(({ id }) => id)
}

const isNoTusUpload = sql`not exists (select 1 from ${tusUploads} where ${tusUploads.id} = ${uploads.id})`

function isListed(ids: readonly string[]): SQL {
  return sql`${uploads.id} in (select value from json_each(${JSON.stringify(ids)}))`
}
