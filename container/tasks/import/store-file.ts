import { createHash } from "node:crypto"
import { Readable } from "node:stream"
import { IMPORT_OUTPUT_KEY } from "../../../src/contract/tasks/import.ts"
import {
  RESUMABLE_PARTS_MAX,
  RESUMABLE_PART_BYTES,
} from "../../../src/contract/resumable-upload.ts"
import type { TransferContext } from "../../transfer/worker-client.ts"
import { createPartReader } from "../../transfer/part-reader.ts"
import type { PartReader } from "../../transfer/part-reader.ts"
import { startPartUpload, startResumableUpload } from "../../transfer/part-upload.ts"
import type { PartUpload } from "../../transfer/part-upload.ts"
import { uploadBytesOutput } from "../../transfer/upload-outputs.ts"
import type { SourceResponse } from "../../transfer/web/request-source.ts"
import { SourceError } from "../../transfer/web/source-error.ts"
import { getIfRangeValue } from "../../transfer/web/source-properties.ts"
import pMap, { pMapSkip } from "p-map"

const IO_PATH = `/outputs/${IMPORT_OUTPUT_KEY}`
const MIB = 1024 ** 2

/** URL that was requested, and its response, whose body is to be stored as a file. */
export type SourceToStore = {
  /** Requested URL, before redirects. */
  requestUrl: URL
  answer: SourceResponse
  /** Body of the response, after its content codings such as gzip were decoded. */
  body: AsyncIterable<Uint8Array>
  /**
   * Requests the bytes of the source from a position on. Works only if the response is not
   * compressed by a content coding such as gzip.
   */
  openRest(position: number): AsyncIterable<Uint8Array>
  contentType: string
  /** Aborts the download and the upload. */
  stop: AbortController
}

/**
 * Result of storing a source as a file. `sha256` is absent if this run has continued the upload of
 * an earlier run and has therefore not read all bytes.
 */
export type StoredSource = { sizeBytes: number; isResumable: boolean; sha256?: string }

/**
 * Uploads the bytes of a source in parts while they arrive, or in one PUT if the source is smaller
 * than a part. If the server identifies the version of the source, such as by an ETag, a later run
 * can resume after the parts that are already stored.
 */
export async function storeSource(
  io: TransferContext,
  source: SourceToStore,
): Promise<StoredSource> {
  const { answer, contentType, stop } = source
  const partBytes = partBytesOf(answer.facts.length)
  const hash = createHash("sha256")
  const reader = createPartReader(source.body, (bytes) => hash.update(bytes))
  const filled = Buffer.allocUnsafeSlow(partBytes)
  const length = await reader.fill(filled)
  if (length === 0) {
    throw new SourceError("not_found", "The server sent no bytes: check the URL.")
  }
  if (length < partBytes) {
    await uploadBytesOutput(io, { ioPath: IO_PATH, bytes: filled.subarray(0, length), contentType })
    return { sizeBytes: length, isResumable: false, sha256: hash.digest("hex") }
  }
  const read = { reader, partBytes, filled, stop }
  const validator = validatorOf(source, partBytes)
  if (validator === null) {
    const upload = await startPartUpload(io, IO_PATH, contentType)
    const sizeBytes = await storeParts(io, upload, read)
    return { sizeBytes, isResumable: false, sha256: hash.digest("hex") }
  }
  const upload = await startResumableUpload(io, IO_PATH, { validator, contentType, partBytes })
  if ("completeBytes" in upload) return { sizeBytes: upload.completeBytes, isResumable: true }
  if (upload.storedParts === 0) {
    const sizeBytes = await storeParts(io, upload, read)
    return { sizeBytes, isResumable: true, sha256: hash.digest("hex") }
  }
  answer.response.destroy()
  const { storedParts, storedBytes } = upload
  const isWhole = storedBytes === answer.facts.length || storedBytes < storedParts * partBytes
  const rest = createPartReader(isWhole ? Readable.from([]) : source.openRest(storedBytes))
  const left = { reader: rest, partBytes, filled: null, stop }
  return { sizeBytes: storedBytes + (await storeParts(io, upload, left)), isResumable: true }
}

/**
 * Returns the smallest part size, in bytes, with which a source of this length has at most
 * RESUMABLE_PARTS_MAX parts.
 */
function partBytesOf(length: number | null): number {
  const leastBytes = Math.ceil((length ?? 0) / RESUMABLE_PARTS_MAX / MIB) * MIB
  return Math.max(RESUMABLE_PART_BYTES, leastBytes)
}

/**
 * Returns a hash of the URL and version of a source and of the part size. A later run resumes the
 * upload only if it computes the same hash. Returns null if the server does not identify the
 * version, or if the response is compressed, so that it cannot be read from the middle.
 */
function validatorOf({ requestUrl, answer }: SourceToStore, partBytes: number): string | null {
  const { url, facts } = answer
  const version = getIfRangeValue(facts)
  if (version === null || facts.codings.length > 0) return null
  // Omits the query of the final URL, since a redirect may lead to a different signed URL at each
  // request.
  const place = facts.etag === null ? url.href : url.origin + url.pathname
  const parts = [requestUrl.href, place, version, facts.length, partBytes]
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex")
}

/** Maximum number of parts that are filled or uploaded at the same time. */
const PARTS_AT_ONCE = 2

type PartSource = {
  reader: PartReader
  partBytes: number
  /** First part of the source, if the caller has already read it into memory; else null. */
  filled: Buffer<ArrayBuffer> | null
  /** Abort controller of the download and the upload, which aborts both if one of them fails. */
  stop: AbortController
}

/**
 * Uploads the rest of a source in parts, several parts at the same time. Returns the number of
 * uploaded bytes.
 */
async function storeParts(
  context: TransferContext,
  upload: PartUpload,
  { reader, partBytes, filled, stop }: PartSource,
): Promise<number> {
  const spare: Buffer<ArrayBuffer>[] = []
  let storedBytes = 0
  async function* fillParts(): AsyncGenerator<FilledPart> {
    let number = upload.storedParts + 1
    if (filled) yield { number: number++, bytes: filled }
    try {
      for (; ; number += 1) {
        const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(partBytes)
        const length = await reader.fill(buffer)
        if (length > 0) yield { number, bytes: buffer.subarray(0, length) }
        if (length < partBytes) return
        if (number >= RESUMABLE_PARTS_MAX)
          throw new SourceError("too_large", "The file has too many bytes.")
      }
    } catch (error) {
      stop.abort(error)
    }
  }
  async function store({ number, bytes }: FilledPart): Promise<typeof pMapSkip> {
    try {
      context.signal.throwIfAborted()
      await upload.store(context, number, bytes)
      storedBytes += bytes.length
      if (bytes.length === partBytes) spare.push(bytes)
    } catch (error) {
      stop.abort(error)
    }
    return pMapSkip
  }
  await pMap(fillParts(), store, { concurrency: PARTS_AT_ONCE })
  context.signal.throwIfAborted()
  await upload.complete(context)
  return storedBytes
}

type FilledPart = { number: number; bytes: Buffer<ArrayBuffer> }
