import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { IMPORT_KEY } from "../../../src/contract/tasks/import.ts"
import { PARTS_MAX, RESUMABLE_PART_BYTES } from "../../../src/contract/resumable-upload.ts"
import type { TransferContext } from "../../transfer/io-client.ts"
import { openPartReader } from "../../transfer/part-reader.ts"
import { beginParts, beginResumable } from "../../transfer/part-upload.ts"
import { storeParts } from "../../transfer/store-parts.ts"
import { uploadBytes } from "../../transfer/upload.ts"
import type { WebAnswer } from "../../transfer/web/open-source.ts"
import { SourceError } from "../../transfer/web/source-error.ts"
import { ifRangeOf } from "../../transfer/web/source-facts.ts"

const IO_PATH = `/outputs/${IMPORT_KEY}`
const MIB = 1024 ** 2

/** A source whose answer is there, to be stored as a file. */
export type FileSource = {
  /** The URL that was asked for. */
  asked: URL
  answer: WebAnswer
  /** Its bytes, with their codings undone. */
  body: AsyncIterable<Uint8Array>
  /** The bytes from a position on, where none were undone. */
  openRest(position: number): AsyncIterable<Uint8Array>
  contentType: string
  /** Ends what reads it and what stores it. */
  stop: AbortController
}

/** What was stored; its SHA-256 is known where this run had all of the bytes. */
export type StoredFile = { sizeBytes: number; isResumable: boolean; sha256?: string }

/**
 * Stores a source in parts as its bytes come; one that is smaller than a part is put as a whole.
 * Where its server tells its versions apart, a later run goes on behind the parts of this one.
 */
export async function storeFile(io: TransferContext, source: FileSource): Promise<StoredFile> {
  const { answer, contentType, stop } = source
  const partBytes = partBytesOf(answer.facts.length)
  const hash = createHash("sha256")
  const reader = openPartReader(source.body, (bytes) => hash.update(bytes))
  const filled = Buffer.allocUnsafeSlow(partBytes)
  const length = await reader.fill(filled)
  if (length === 0) {
    throw new SourceError(
      "not_found",
      "There is nothing at the URL, since the server sent no bytes: check it.",
    )
  }
  if (length < partBytes) {
    await uploadBytes(io, { ioPath: IO_PATH, bytes: filled.subarray(0, length), contentType })
    return { sizeBytes: length, isResumable: false, sha256: hash.digest("hex") }
  }
  const read = { reader, partBytes, filled, stop }
  const validator = validatorOf(source, partBytes)
  if (validator === null) {
    const upload = await beginParts(io, IO_PATH, contentType)
    const sizeBytes = await storeParts(io, upload, read)
    return { sizeBytes, isResumable: false, sha256: hash.digest("hex") }
  }
  const upload = await beginResumable(io, IO_PATH, { validator, contentType, partBytes })
  if ("completeBytes" in upload) return { sizeBytes: upload.completeBytes, isResumable: true }
  if (upload.storedParts === 0) {
    const sizeBytes = await storeParts(io, upload, read)
    return { sizeBytes, isResumable: true, sha256: hash.digest("hex") }
  }
  answer.response.destroy()
  const { storedParts, storedBytes } = upload
  const isWhole = storedBytes === answer.facts.length || storedBytes < storedParts * partBytes
  const rest = openPartReader(isWhole ? Readable.from([]) : source.openRest(storedBytes))
  const left = { reader: rest, partBytes, filled: null, stop }
  return { sizeBytes: storedBytes + (await storeParts(io, upload, left)), isResumable: true }
}

/** Equal parts, of which a whole of this length has no more than there may be. */
function partBytesOf(length: number | null): number {
  const leastBytes = Math.ceil((length ?? 0) / PARTS_MAX / MIB) * MIB
  return Math.max(RESUMABLE_PART_BYTES, leastBytes)
}

/**
 * What stands for the bytes of a source: where they lie, and how their server tells them from
 * others. Null where a later run could not tell them, or not go on in the middle of them.
 */
function validatorOf({ asked, answer }: FileSource, partBytes: number): string | null {
  const { url, facts } = answer
  const version = ifRangeOf(facts)
  if (version === null || facts.codings.length > 0) return null
  // A redirect may lead to another link for each request, whose query is then a signature.
  const place = facts.etag === null ? url.href : url.origin + url.pathname
  const parts = [asked.href, place, version, facts.length, partBytes]
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex")
}
