import type { z } from "zod"
import { newId } from "../../platform/ids.ts"
import type { AccountDatabase } from "../database.ts"
import { makeValueObjectKey } from "../../domain/object-keys.ts"
import { insertUpload } from "../files/uploads.ts"
import type { Upload } from "../schema/uploads.ts"

// A value that is too large for its row (overflow.ts) becomes an R2 object below the prefix of the
// row's owner; a column holds the object's key. A row in `uploads` is inserted before the object is
// written, and the batch that writes the key deletes that row. If the batch never runs, the sweep
// finds the row and removes the object.

/**
 * Writer of the large values of one batch. `uploads` has a row for each R2 object that was written.
 * The batch that writes the objects' keys must delete these rows.
 */
export type LargeValueWriter = {
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  readonly uploads: Upload[]
}

export function createLargeValueWriter(
  bucket: R2Bucket,
  database: AccountDatabase,
): LargeValueWriter {
  return { bucket, database, uploads: [] }
}

/** Writes a text to a new R2 object below a key prefix. Returns the key of the object. */
export async function writeLargeText(
  { bucket, database, uploads }: LargeValueWriter,
  prefix: string,
  text: string,
): Promise<string> {
  const id = newId()
  const { accountId } = database
  const objectKey = makeValueObjectKey(prefix, id)
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
 * Waits until all writes have ended, and throws if a write failed. The cleanup after a failure
 * therefore knows all written objects.
 */
export async function awaitLargeValueWrites<Value>(writes: Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(writes)
  return await Promise.all(writes)
}

/** Returns the text of an R2 object; null if the object does not exist. */
export async function readLargeText(bucket: R2Bucket, objectKey: string): Promise<string | null> {
  return (await (await bucket.get(objectKey))?.text()) ?? null
}

/**
 * Reads a JSON value from R2. Returns `inRow`, the value that the row holds, if `objectKey` is null
 * or the object does not exist.
 */
export async function readLargeValue<Value>(
  bucket: R2Bucket,
  objectKey: string | null,
  { inRow, schema }: { inRow: Value; schema: z.ZodType<Value> },
): Promise<Value> {
  const text = objectKey === null ? null : await readLargeText(bucket, objectKey)
  return text === null ? inRow : schema.parse(JSON.parse(text))
}
