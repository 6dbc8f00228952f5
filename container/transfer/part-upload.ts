import { z } from "zod"
import { resumableBegun } from "../../src/contract/resumable-upload.ts"
import type { StoredPart } from "../../src/contract/resumable-upload.ts"
import type { TransferContext } from "./io-client.ts"
import { retry, transferRetryPolicy } from "./promises.ts"

/** An upload of an output in parts. */
export type PartUpload = {
  /** Parts that an earlier run has stored, the first ones without a gap. */
  storedParts: number
  storedBytes: number
  store(context: TransferContext, number: number, bytes: PartBytes): Promise<void>
  complete(context: TransferContext): Promise<void>
}

type PartBytes = Uint8Array<ArrayBuffer> | Blob

/** The Worker has no such upload any more, or has other parts of it: it has to begin anew. */
export class UploadLostError extends Error {}

const uploadCreated = z.object({ upload_id: z.string().min(1) })
const partStored = z.object({ etag: z.string().min(1) })
const LOST = [404, 409]

/** Begins an upload that ends with its run. */
export async function beginParts(
  context: TransferContext,
  ioPath: string,
  contentType: string,
): Promise<PartUpload> {
  const headers = { "content-type": contentType }
  const created = await send(context, "POST", `${ioPath}/parts`, { headers })
  const { upload_id: uploadId } = uploadCreated.parse(await created.json())
  const completePath = `${ioPath}/parts/complete`
  return makeUpload({ partsPath: `${ioPath}/parts`, completePath, uploadId, parts: [] })
}

/**
 * Goes on with the upload that an earlier run began for the same validator, or begins one that later
 * runs go on with. Where an earlier run completed it, only its size is answered.
 */
export async function beginResumable(
  context: TransferContext,
  ioPath: string,
  wanted: { validator: string; contentType: string; partBytes: number },
): Promise<PartUpload | { completeBytes: number }> {
  const { validator, contentType, partBytes } = wanted
  const body = JSON.stringify({ validator, content_type: contentType })
  const answer = await send(context, "POST", `${ioPath}/resumable`, { body })
  const begun = resumableBegun.parse(await answer.json())
  if ("stored_bytes" in begun) return { completeBytes: begun.stored_bytes }
  // Only the last part may be smaller, and then nothing of the source is left.
  const gap = begun.parts.findIndex(
    (part, index) =>
      part.part_number !== index + 1 ||
      (part.size_bytes !== partBytes && index < begun.parts.length - 1),
  )
  const parts = gap === -1 ? begun.parts : begun.parts.slice(0, gap)
  const partsPath = `${ioPath}/resumable/parts`
  const completePath = `${ioPath}/resumable/complete`
  return makeUpload({ partsPath, completePath, uploadId: begun.upload_id, parts })
}

function makeUpload(of: {
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
  const response = await retry(transferRetryPolicy(signal), () =>
    io.fetch(path, { ...request, method, signal, answered: LOST }),
  )
  if (response.ok) return response
  await response.body?.cancel()
  throw new UploadLostError(`The Worker has no such upload: ${response.status}.`)
}
