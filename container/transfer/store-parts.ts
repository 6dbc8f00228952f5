import pMap, { pMapSkip } from "p-map"
import { PARTS_MAX } from "../../src/contract/resumable-upload.ts"
import type { TransferContext } from "./io-client.ts"
import type { PartReader } from "./part-reader.ts"
import type { PartUpload } from "./part-upload.ts"
import { SourceError } from "./web/source-error.ts"

/** Parts that are filled or sent at a time. */
const PARTS_AT_ONCE = 2

export type PartSource = {
  reader: PartReader
  partBytes: number
  /** The first part, where it was read already. */
  filled: Buffer<ArrayBuffer> | null
  /** Ends the source and the upload, whose signal it is, where one of them fails. */
  stop: AbortController
}

/** Stores what a source has left in parts, some at a time; answers the bytes of these. */
export async function storeParts(
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
        if (number >= PARTS_MAX) throw new SourceError("too_large", "The file has too many bytes.")
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
