import { and, asc, eq, gte, isNotNull, lt, or } from "drizzle-orm"
import type { Database } from "./database.ts"
import { uploads } from "./schema.ts"
import type { Upload } from "./schema.ts"

/** Notes bytes that are about to be written, before the first of them is. */
export async function openUpload(
  database: Database,
  upload: typeof uploads.$inferInsert,
): Promise<void> {
  await database.insert(uploads).values(upload).onConflictDoNothing()
}

/** Removes an upload's row, once its bytes are an object of somebody or are gone. */
export async function closeUpload(database: Database, id: string): Promise<void> {
  await database.delete(uploads).where(eq(uploads.id, id))
}

/** An upload of a task by its object and R2's id; null where the task began none like it. */
export async function findUpload(
  database: Database,
  objectKey: string,
  multipartId: string,
): Promise<Upload | null> {
  const [row] = await database
    .select()
    .from(uploads)
    .where(and(eq(uploads.objectKey, objectKey), eq(uploads.multipartId, multipartId)))
    .limit(1)
  return row ?? null
}

/** Uploads whose object lies below a prefix. */
export async function listUploadsBelow(database: Database, prefix: string): Promise<Upload[]> {
  return await database
    .select()
    .from(uploads)
    .where(and(gte(uploads.objectKey, prefix), lt(uploads.objectKey, `${prefix}\uffff`)))
}

/** Uploads begun before a moment, oldest first. */
export async function listAbandoned(
  database: Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
  return await database
    .select()
    .from(uploads)
    .where(or(lt(uploads.createdAt, before), isNotNull(uploads.dyingAt)))
    .orderBy(asc(uploads.createdAt))
    .limit(limit)
}

/** Marks an upload as dying; false where a job has taken it meanwhile. */
export async function markDying(database: Database, id: string, now: number): Promise<boolean> {
  const marked = await database
    .update(uploads)
    .set({ dyingAt: now })
    .where(eq(uploads.id, id))
    .returning({ id: uploads.id })
  return marked.length === 1
}
