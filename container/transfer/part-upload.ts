import { z } from "zod"
import { resumableUploadResponseSchema } from "../../src/contract/resumable-upload.ts"
import type { StoredPart } from "../../src/contract/resumable-upload.ts"
import type { TransferContext } from "./worker-client.ts"
import { retryWithBackoff, transferRetryPolicy } from "./concurrency-and-retry.ts"

/** Multipart upload of an output to the Worker. */
export type PartUpload = {
  /**
   * Number of parts at the beginning of the output, without a gap, that an earlier run has already
   * uploaded.
   */
  storedParts: number
  storedBytes: number
  store(context: TransferContext, number: number, bytes: PartBytes): Promise<void>
  complete(context: TransferContext): Promise<void>
}

type PartBytes = Uint8Array<ArrayBuffer> | Blob

/**
 * Error that means that the Worker no longer has an upload, or has different parts of the upload.
 * The upload must start again.
 */
export class UploadLostError extends Error {}

const uploadCreated = z.object({ upload_id: z.string().min(1) })
const partStored = z.object({ etag: z.string().min(1) })
const LOST_UPLOAD_STATUSES = [404, 409]

/** Starts a multipart upload that a later run cannot resume. */
export async function startPartUpload(
  context: TransferContext,
  ioPath: string,
  contentType: string,
): Promise<PartUpload> {
  const headers = { "content-type": contentType }
  const created = await send(context, "POST", `${ioPath}/parts`, { headers })
  const { upload_id: uploadId } = uploadCreated.parse(await created.json())
  const completePath = `${ioPath}/parts/complete`
  return createPartUpload({ partsPath: `${ioPath}/parts`, completePath, uploadId, parts: [] })
}

/**
 * Resumes the upload that an earlier run has started with the same `validator`, such as an ETag of
 * the source, or starts a new upload that later runs can resume. If an earlier run has completed
 * the upload, returns only the size of the output.
 */
export async function startResumableUpload(
  context: TransferContext,
  ioPath: string,
  options: { validator: string; contentType: string; partBytes: number },
): Promise<PartUpload | { completeBytes: number }> {
  const { validator, contentType, partBytes } = options
  const body = JSON.stringify({ validator, content_type: contentType })
  const answer = await send(context, "POST", `${ioPath}/resumable`, { body })
  const begun = resumableUploadResponseSchema.parse(await answer.json())
  if ("stored_bytes" in begun) return { completeBytes: begun.stored_bytes }
  // Finds the first missing part. A part with an unexpected size also counts as missing, except the
  // last part.
  const gap = begun.parts.findIndex(
    (part, index) =>
      part.part_number !== index + 1 ||
      (part.size_bytes !== partBytes && index < begun.parts.length - 1),
  )
  const parts = gap === -1 ? begun.parts : begun.parts.slice(0, gap)
  const partsPath = `${ioPath}/resumable/parts`
  const completePath = `${ioPath}/resumable/complete`
  return createPartUpload({ partsPath, completePath, uploadId: begun.upload_id, parts })
}

function createPartUpload(of: {
  partsPath: string
  completePath: string
  uploadId: string
  parts: readonly StoredPart[]
}): PartUpload {
  const query = `upload_id=${encodeURIComponent(of.uploadId)}`
  const etags = new Map(of.parts.map(({ part_number, etag }) => [part_number, etag]))
  return {
    storedParts: etags.size,
    storedBytes: of.parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    async store(context, number, bytes) {
      const path = `${of.partsPath}/${number}?${query}`
      const stored = await send(context, "PUT", path, { body: bytes })
      etags.set(number, partStored.parse(await stored.json()).etag)
    },
    async complete(context) {
      const parts = [...etags].map(([part_number, etag]) => ({ part_number, etag }))
      parts.sort((one, other) => one.part_number - other.part_number)
      const body = JSON.stringify({ parts })
      await (await send(context, "POST", `${of.completePath}?${query}`, { body })).arrayBuffer()
    },
  }
}

async function send(
  { io, signal }: TransferContext,
  method: "POST" | "PUT",
  path: string,
  request: { headers?: Record<string, string>; body?: string | PartBytes },
): Promise<Response> {
  const response = await retryWithBackoff(transferRetryPolicy(signal), () =>
    io.fetch(path, { ...request, method, signal, acceptedStatuses: LOST_UPLOAD_STATUSES }),
  )
  if (response.ok) return response
  await response.body?.cancel()
  throw new UploadLostError(`The Worker no longer has the upload: ${response.status}.`)
}
