import type { AccountDatabase } from "./database.ts"
import { finishObject, openPartWriter, writeBytes } from "./part-writer.ts"
import type { PartWriter } from "./part-writer.ts"
import type { HoldSpace } from "./state-disk.ts"

const READ_BYTES = 256 * 1024

/**
 * Copies an object into a new upload of the account, streaming; R2 has no copy of its own.
 * `onBegun` gets the writer before the first byte, so that the copy can be abandoned. False where
 * the disk has no room.
 */
export async function copyObject(
  bucket: R2Bucket,
  database: AccountDatabase,
  { sourceKey, holdSpace }: { sourceKey: string; holdSpace: HoldSpace },
  onBegun: (writer: PartWriter) => void,
): Promise<boolean> {
  const object = await bucket.get(sourceKey)
  if (!object) throw new Error(`there is no object at ${sourceKey}`)
  const writer = openPartWriter(bucket, database, { bytesMax: object.size, holdSpace })
  onBegun(writer)
  const reader = object.body.getReader({ mode: "byob" })
  let room = new Uint8Array(READ_BYTES)
  for (;;) {
    const { done, value } = await reader.read(room)
    if (done) break
    if (!(await writeBytes(writer, value))) return false
    room = new Uint8Array(value.buffer)
  }
  return (await finishObject(writer, object.httpMetadata ?? {})) !== null
}
