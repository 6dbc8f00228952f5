import { resumableUploadRequestSchema } from "../../../src/contract/resumable-upload.ts"
import { readBodyOfKnownLength, readListedParts, makeStatusResponse } from "./io-answer.ts"

export type StoredOutput = {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string | null
  /** Sizes of the output's parts in order. Empty for an output that was stored by one request. */
  partSizes: number[]
  /** Version of the source, like an ETag, for which the resumable upload was started. */
  validator?: string
}

/** Resumable upload, which later runs of the same task continue. */
export type ResumableUpload = {
  /** Key of the output in the job's request. */
  key: string
  validator: string
  contentType: string
  parts: Map<number, { bytes: Uint8Array<ArrayBuffer>; etag: string }>
}

/** Part of the fake I/O server's state that resumable uploads change. */
type ResumableStore = {
  resumables: Map<string, ResumableUpload>
  outputs: Map<string, StoredOutput>
}

/** Returns the key in the map `outputs` under which a completed resumable upload is stored. */
export function makeResumableOutputKey(key: string): string {
  return `${key} of fence 0`
}

/** Serves the routes below `/outputs/{key}/resumable`. */
export async function serveResumableUpload(
  server: ResumableStore,
  request: Request,
  { place: key, rest }: { place: string; rest: string[] },
): Promise<Response> {
  const [, word, number] = rest
  const route = `${request.method} ${word ?? ""}`
  if (route === "POST ") return await begin(server, request, key)
  const id = new URL(request.url).searchParams.get("upload_id") ?? ""
  const upload = server.resumables.get(id)
  if (upload?.key !== key) {
    return makeStatusResponse(
      route === "POST complete" && server.outputs.has(makeResumableOutputKey(key)) ? 200 : 404,
    )
  }
  if (route === "PUT parts") return await storePart(upload, Number(number), request)
  return route === "POST complete"
    ? await complete(server, { id, upload }, request)
    : makeStatusResponse(404)
}

async function begin(server: ResumableStore, request: Request, key: string): Promise<Response> {
  const wanted = resumableUploadRequestSchema.safeParse(await request.json().catch(() => null))
  if (!wanted.success) return makeStatusResponse(400)
  const { validator, content_type: contentType } = wanted.data
  const stored = server.outputs.get(makeResumableOutputKey(key))
  if (stored?.validator === validator) return Response.json({ stored_bytes: stored.bytes.length })
  for (const [id, upload] of server.resumables) {
    if (upload.key !== key) continue
    if (upload.validator === validator) return answerBegun(id, upload)
    server.resumables.delete(id)
  }
  const id = `resumable-${crypto.randomUUID()}`
  const upload = { key, validator, contentType, parts: new Map() }
  server.resumables.set(id, upload)
  return answerBegun(id, upload)
}

function answerBegun(upload_id: string, { parts }: ResumableUpload): Response {
  const stored = [...parts].map(([part_number, { bytes, etag }]) => {
    return { part_number, size_bytes: bytes.length, etag }
  })
  stored.sort((one, other) => one.part_number - other.part_number)
  return Response.json({ upload_id, parts: stored })
}

async function storePart(
  upload: ResumableUpload,
  number: number,
  request: Request,
): Promise<Response> {
  upload.parts.delete(number)
  const bytes = await readBodyOfKnownLength(request)
  if (bytes instanceof Response) return bytes
  const etag = `etag-${crypto.randomUUID()}`
  upload.parts.set(number, { bytes, etag })
  return Response.json({ etag })
}

async function complete(
  server: ResumableStore,
  { id, upload }: { id: string; upload: ResumableUpload },
  request: Request,
): Promise<Response> {
  const bytes = new Map([...upload.parts].map(([number, part]) => [number, part.bytes]))
  const stored = await readListedParts(request, bytes)
  if (!(stored instanceof Response) || stored.status === 409) server.resumables.delete(id)
  if (stored instanceof Response) return stored
  server.outputs.set(makeResumableOutputKey(upload.key), {
    bytes: new Uint8Array(await new Blob(stored).arrayBuffer()),
    contentType: upload.contentType,
    partSizes: stored.map(({ length }) => length),
    validator: upload.validator,
  })
  return makeStatusResponse(200)
}
