import type { AccountDatabase } from "../db/database.ts"
import { completePartWriterObject, createPartWriter, addBytesToPartWriter } from "./part-writer.ts"
import type { PartWriter } from "./part-writer.ts"
import type { DiskSpaceReserver } from "../bindings/storage-disk.ts"

const READ_BYTES = 256 * 1024

/**
 * Copies an object by streaming it into a new upload of the account, because R2 has no copy
 * operation. Calls `onBegun` with the writer before the first byte, so that the caller can abandon
 * the copy. Returns false if the disk has no room.
 */
export async function copyObject(
  bucket: R2Bucket,
  database: AccountDatabase,
  { sourceKey, holdSpace }: { sourceKey: string; holdSpace: DiskSpaceReserver },
  onBegun: (writer: PartWriter) => void,
): Promise<boolean> {
  const object = await bucket.get(sourceKey)
  if (!object) throw new Error(`no object exists at ${sourceKey}`)
  const writer = createPartWriter(bucket, database, { bytesMax: object.size, holdSpace })
  onBegun(writer)
  const reader = object.body.getReader({ mode: "byob" })
  let room = new Uint8Array(READ_BYTES)
  for (;;) {
    const { done, value } = await reader.read(room)
    if (done) break
    if (!(await addBytesToPartWriter(writer, value))) return false
    room = new Uint8Array(value.buffer)
  }
  return (await completePartWriterObject(writer, object.httpMetadata ?? {})) !== null
}
