import { toHex } from "../../crypto/hex.ts"
import type { Env } from "../../env.ts"
import { countEvent } from "../../metrics.ts"
import { databaseOf } from "../../storage/database.ts"
import { finishObject, openPartWriter, writeBytes } from "../../storage/part-writer.ts"
import { spaceOf } from "../../storage/state-disk.ts"
import type { Upload } from "../../storage/schema/uploads.ts"
import { abandonWriter } from "./abandon.ts"

/** A caller's file whose bytes are stored. */
export type ReceivedFile = {
  upload: Upload
  sizeBytes: number
  /** SHA-256 of the bytes, hexadecimal. */
  sha256: string
}

/** A caller's file on its way into R2. */
export type IncomingFile = {
  /** False where the disk has no room for it. */
  write(bytes: Uint8Array): Promise<boolean>
  /** Null where the disk has no room for the rest of it. */
  finish(): Promise<ReceivedFile | null>
  /** Removes what was stored so far, unless a job has taken it meanwhile. */
  abandon(): Promise<void>
}

/** Begins to store a file of an account; `bytesMax` decides the size of its parts. */
export function openIncomingFile(
  env: Env,
  accountId: string,
  { bytesMax, contentType }: { bytesMax: number; contentType: string },
): IncomingFile {
  const writer = openPartWriter(env.MEDIA, databaseOf(env, accountId), {
    bytesMax,
    holdSpace: spaceOf(env),
  })
  const hash = openHash()
  return {
    async write(bytes) {
      await hash.writer.write(bytes)
      return await writeBytes(writer, bytes)
    },
    async finish() {
      const sizeBytes = await finishObject(writer, { contentType })
      if (sizeBytes === null) return null
      countEvent(env, { event: "upload", bytes: sizeBytes })
      const { upload } = writer
      await hash.writer.close()
      return { upload, sizeBytes, sha256: toHex(await hash.digest) }
    },
    abandon: async () => await abandonWriter(env, writer),
  }
}

function openHash() {
  const stream = new crypto.DigestStream("SHA-256")
  // An upload that fails leaves the digest pending or rejected, and unused.
  stream.digest.catch(() => undefined)
  return { writer: stream.getWriter(), digest: stream.digest }
}
