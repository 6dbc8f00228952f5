import type { z } from "zod"
import { newId } from "../../platform/ids.ts"
import type { AccountDatabase } from "../database.ts"
import { valueObjectKey } from "../../domain/object-keys.ts"
import { insertUpload } from "../files/uploads.ts"
import type { Upload } from "../schema/uploads.ts"

// A value that is too large for its row (overflow.ts) becomes an R2 object below the prefix of the
// row's owner; a column holds the object's key. A row in `uploads` is inserted before the object is
// written, and the batch that writes the key deletes that row. If the batch never runs, the sweep
// therefore finds the object and removes it.

/**
 * Collects the large values of one batch. `uploads` holds the rows that note their R2 objects; the
 * batch that writes the objects' keys must delete these rows.
 */
export type LargeValueWriter = {
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  readonly uploads: Upload[]
}

export function openLargeValueWriter(
  bucket: R2Bucket,
  database: AccountDatabase,
): LargeValueWriter {
  return { bucket, database, uploads: [] }
}

/** Writes a text to a new R2 object below a prefix. Returns the object's key. */
export async function writeLargeText(
  { bucket, database, uploads }: LargeValueWriter,
  prefix: string,
  text: string,
): Promise<string> {
  const id = newId()
  const { accountId } = database
  const objectKey = valueObjectKey(prefix, id)
  const createdAt = Date.now()
  const newUpload = {
    multipartId: null,
    taskId: null,
    validator: null,
    createdAt,
    removalTriedAt: null,
  }
  const upload = { id, accountId, objectKey, ...newUpload }
  await insertUpload(database, upload)
  uploads.push(upload)
  await bucket.put(objectKey, text)
  return objectKey
}

/**
 * Awaits all writes, and throws afterwards if one failed. All written objects are then known to the
 * caller's cleanup.
 */
export async function awaitAllWrites<Value>(writes: Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(writes)
  return await Promise.all(writes)
}

/** Returns the text of an R2 object; null if the object does not exist. */
export async function readLargeText(bucket: R2Bucket, objectKey: string): Promise<string | null> {
  return (await (await bucket.get(objectKey))?.text()) ?? null
}

/**
 * Reads a JSON value from R2. Returns `inRow`, the value in the row, if `objectKey` is null or the
 * object does not exist.
 */
export async function readLargeValue<Value>(
  bucket: R2Bucket,
  objectKey: string | null,
  { inRow, schema }: { inRow: Value; schema: z.ZodType<Value> },
): Promise<Value> {
  const text = objectKey === null ? null : await readLargeText(bucket, objectKey)
  return text === null ? inRow : schema.parse(JSON.parse(text))
}
