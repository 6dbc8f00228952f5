import type { z } from "zod"
import { newId } from "../ids.ts"
import type { AccountDatabase } from "./database.ts"
import { valueObjectKey } from "./objects.ts"
import { openUpload } from "./uploads.ts"
import type { Upload } from "./schema/uploads.ts"

// A value that has no room in its row (overflow.ts) is an object of R2 below the prefix of its owner, and a
// column beside it has the object's key. An object is noted as an
// upload before it is written, and the batch that writes the row forgets the upload: whatever
// happens in between, the sweep finds the object.

/** Writes the large values of one batch; `uploads` are those that the batch is to forget. */
export type ValueWriter = {
  readonly bucket: R2Bucket
  readonly database: AccountDatabase
  readonly uploads: Upload[]
}

export function openValueWriter(bucket: R2Bucket, database: AccountDatabase): ValueWriter {
  return { bucket, database, uploads: [] }
}

/** Writes a text that has no room in its row; answers its object's key. */
export async function writeText(
  { bucket, database, uploads }: ValueWriter,
  prefix: string,
  text: string,
): Promise<string> {
  const id = newId()
  const { accountId } = database
  const objectKey = valueObjectKey(prefix, id)
  const createdAt = Date.now()
  const begun = {
    multipartId: null,
    taskId: null,
    validator: null,
    createdAt,
    removalTriedAt: null,
  }
  const upload = { id, accountId, objectKey, ...begun }
  await openUpload(database, upload)
  uploads.push(upload)
  await bucket.put(objectKey, text)
  return objectKey
}

/**
 * What several writes answer. Where one fails it throws once the others are over too, so that whoever
 * abandons what was written finds all of it.
 */
export async function allWritten<Value>(writes: Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(writes)
  return await Promise.all(writes)
}

/** The text at an object's key; null where it is gone. */
export async function readText(bucket: R2Bucket, objectKey: string): Promise<string | null> {
  return (await (await bucket.get(objectKey))?.text()) ?? null
}

/** A value that is large where `objectKey` is a key, and otherwise, or where that is gone, `inRow`. */
export async function readValue<Value>(
  bucket: R2Bucket,
  objectKey: string | null,
  { inRow, schema }: { inRow: Value; schema: z.ZodType<Value> },
): Promise<Value> {
  const text = objectKey === null ? null : await readText(bucket, objectKey)
  return text === null ? inRow : schema.parse(JSON.parse(text))
}
