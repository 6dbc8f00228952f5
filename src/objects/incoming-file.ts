import { createDigest } from "../platform/crypto/digest.ts"
import { toHex } from "../platform/crypto/hex.ts"
import type { Env } from "../bindings/env.ts"
import { countMetricEvent } from "../bindings/metrics.ts"
import { openAccountDatabases } from "../db/database.ts"
import { completePartWriterObject, createPartWriter, addBytesToPartWriter } from "./part-writer.ts"
import { makeDiskSpaceReserver } from "../bindings/storage-disk.ts"
import type { Upload } from "../db/schema/uploads.ts"
import { abandonPartWriter } from "./abandon-upload.ts"

/** File from a request whose bytes are all stored in R2. */
export type ReceivedFile = {
  upload: Upload
  sizeBytes: number
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string
}

/** File from a request that is being written to R2. */
export type IncomingFile = {
  /**
   * Adds bytes to the file. Returns false if the disk has no room. `moreBytes` is the minimum
   * number of bytes that follow. If they suffice to fill a multipart part, the part is streamed to
   * R2 instead of buffered.
   */
  write(bytes: Uint8Array, moreBytes: number): Promise<boolean>
  /** Completes the file. Returns null if the disk has no room for the remaining bytes. */
  finish(): Promise<ReceivedFile | null>
  /** Removes the bytes stored so far, unless the file became the input of a job meanwhile. */
  abandon(): Promise<void>
}

/**
 * Starts to store a file of an account in R2. `bytesMax` determines the size of its multipart
 * parts.
 */
export function createIncomingFile(
  env: Env,
  accountId: string,
  { bytesMax, contentType }: { bytesMax: number; contentType: string },
): IncomingFile {
  const writer = createPartWriter(env.MEDIA, openAccountDatabases(env, accountId), {
    bytesMax,
    holdSpace: makeDiskSpaceReserver(env),
  })
  const hash = createDigest("SHA-256")
  return {
    async write(bytes, moreBytes) {
      await hash.write(bytes)
      return await addBytesToPartWriter(writer, bytes, moreBytes)
    },
    async finish() {
      const sizeBytes = await completePartWriterObject(writer, { contentType })
      if (sizeBytes === null) return null
      countMetricEvent(env, { event: "upload", bytes: sizeBytes })
      const { upload } = writer
      return { upload, sizeBytes, sha256: toHex(await hash.finish()) }
    },
    abandon: async () => await abandonPartWriter(env, writer),
  }
}
