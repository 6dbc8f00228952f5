import { and, asc, desc, eq, gte, isNotNull, isNull, lt, sql } from "drizzle-orm"
import type { SQL } from "drizzle-orm"
import { runBatch } from "./database.ts"
import type { AccountDatabase, Database, Statement } from "./database.ts"
import { uploadParts, uploads } from "./schema/uploads.ts"
import type { Upload } from "./schema/uploads.ts"

/** Notes bytes that are about to be written, before the first of them is. */
export async function openUpload(
  { accountId, sql: database }: AccountDatabase,
  upload: Omit<typeof uploads.$inferInsert, "accountId">,
): Promise<void> {
  await database
    .insert(uploads)
    .values({ ...upload, accountId })
    .onConflictDoNothing()
}

/** Removes an upload's rows, once its bytes are an object of somebody or are gone. */
export async function closeUpload(database: AccountDatabase, id: string): Promise<void> {
  await closeUploads(database.sql, [id], eq(uploads.accountId, database.accountId))
}

/** Removes the rows of uploads, of all accounts or where a condition holds. */
export async function closeUploads(
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

/** The uploads of an object, the newest first. */
export async function listUploadsOf(
  { accountId, sql: database }: AccountDatabase,
  objectKey: string,
): Promise<Upload[]> {
  return await database
    .select()
    .from(uploads)
    .where(and(eq(uploads.objectKey, objectKey), eq(uploads.accountId, accountId)))
    .orderBy(desc(uploads.createdAt))
}

/** Makes an upload as young as one begun now, unless its removal has begun; false where it has. */
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

/** Statements that make objects those of the rows of their batch, where `condition` holds. */
export function takeUploads(
  { accountId, sql: database }: AccountDatabase,
  ids: readonly string[],
  condition?: SQL,
): Statement[] {
  if (ids.length === 0) return []
  return [
    database.delete(uploads).where(and(isListed(ids), eq(uploads.accountId, accountId), condition)),
  ]
}

/** An upload of a task by its object and R2's id; null where the task began none like it. */
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

/** Uploads of all accounts whose object lies below a prefix, as many as `limit` where it is given. */
export async function listUploadsBelow(
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

/** Uploads of all accounts whose objects lie below any of some prefixes. */
export async function listUploadsBelowAny(
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
 * Uploads of all accounts begun before a moment, oldest first; those that could not be removed come
 * after them, the longest untried first.
 */
export async function listAbandoned(
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

/** Uploads of all accounts that the Worker itself began before a moment, and not a task. */
export async function listOwnUploads(
  database: Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
  return await selectBegun(database, before, limit, isNull(uploads.taskId))
}

/** Uploads that were begun before a moment and nobody tried to remove, oldest first. */
function selectBegun(database: Database, before: number, limit: number, condition?: SQL) {
  return database
    .select()
    .from(uploads)
    .where(and(lt(uploads.createdAt, before), isNull(uploads.removalTriedAt), condition))
    .orderBy(asc(uploads.createdAt))
    .limit(limit)
}

/** Marks uploads as being removed; answers the ids of those that no job has taken meanwhile. */
export async function beginRemoval(
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

function isListed(ids: readonly string[]): SQL {
  return sql`${uploads.id} in (select value from json_each(${JSON.stringify(ids)}))`
}
