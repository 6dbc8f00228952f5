import { toHex } from "../../crypto/hex.ts"
import type { Env } from "../../env.ts"
import { databaseOf } from "../../storage/database.ts"
import { finishObject, openPartWriter, writeBytes } from "../../storage/part-writer.ts"
import type { Upload } from "../../storage/schema/uploads.ts"
import { abandonWriter } from "./abandon.ts"

/** A caller's file whose bytes are stored. */
export type ReceivedFile = {
  upload: Upload
  sizeBytes: number
  /** SHA-256 of the bytes, hexadecimal, where it was asked for. */
  digest?: string
}

/** A caller's file on its way into R2. */
export type IncomingFile = {
  write(bytes: Uint8Array): Promise<void>
  finish(): Promise<ReceivedFile>
  /** Removes what was stored so far, unless a job has taken it meanwhile. */
  abandon(): Promise<void>
}

/** Begins to store a file of an account; `bytesMax` decides the size of its parts. */
export function openIncomingFile(
  env: Env,
  accountId: string,
  { bytesMax, contentType, isHashed }: { bytesMax: number; contentType: string; isHashed: boolean },
): IncomingFile {
  const writer = openPartWriter(env.MEDIA, databaseOf(env, accountId), bytesMax)
  const hash = isHashed ? openHash() : null
  return {
    async write(bytes) {
      await hash?.writer.write(bytes)
      await writeBytes(writer, bytes)
    },
    async finish() {
      const sizeBytes = await finishObject(writer, { contentType })
      const { upload } = writer
      if (!hash) return { upload, sizeBytes }
      await hash.writer.close()
      return { upload, sizeBytes, digest: toHex(await hash.digest) }
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
