import type { Hono } from "hono"
import { resumableUploadRequestSchema } from "../contract/resumable-upload.ts"
import type { resumableUploadResponseSchema } from "../contract/resumable-upload.ts"
import type { z } from "zod"
import { newId } from "../platform/ids.ts"
import { openAccountDatabases } from "../db/database.ts"
import { isMissingUploadError } from "../objects/objects.ts"
import { makeOutputObjectKey, RESUMABLE_UPLOAD_FENCE } from "../domain/object-keys.ts"
import type { Upload } from "../db/schema/uploads.ts"
import { beginUploadPart, listUploadParts, saveUploadPart } from "../db/files/upload-parts.ts"
import {
  deleteUploadRow,
  listUploadsOfObject,
  insertUpload,
  renewUpload,
} from "../db/files/uploads.ts"
import { storeBody } from "./io-body.ts"
import { readCompletedParts, respondWithMessage } from "./io-context.ts"
import type { IoHonoEnv, IoContext } from "./io-context.ts"
import {
  respondToCompletionOfUnknownUpload,
  completeUpload,
  abortAndDeleteUpload,
  findOpenUpload,
  callWithOutputKey,
} from "./io-outputs.ts"

/**
 * Adds the routes of a resumable upload, which a later run of the same task continues. All runs of
 * the task share one object key for the upload, which contains a fixed fencing token that no run
 * has. Every call requires that the task runs with the caller's fencing token.
 */
export function addResumableUploadRoutes(io: Hono<IoHonoEnv>): void {
  const place = "/:task/outputs/:key/resumable"
  io.post(place, (c) => withObjectKey(c, (objectKey) => begin(c, objectKey)))
  io.put(`${place}/parts/:part{[1-9]\\d{0,4}}`, storePart)
  io.post(`${place}/complete`, (c) => withObjectKey(c, (objectKey) => complete(c, objectKey)))
}

async function withObjectKey(
  c: IoContext,
  serve: (objectKey: string) => Promise<Response>,
): Promise<Response> {
  return await callWithOutputKey(c, (key) => serve(resumableKey(c, key)))
}

function resumableKey(c: IoContext, outputKey: string): string {
  const { accountId, taskId } = c.get("run")
  return makeOutputObjectKey(accountId, { taskId, fence: RESUMABLE_UPLOAD_FENCE }, outputKey)
}

/**
 * Continues the upload with the same validator (the version of the source, like an ETag), or starts
 * a new upload. Aborts all other uploads of the output.
 */
async function begin(c: IoContext, objectKey: string): Promise<Response> {
  const request = resumableUploadRequestSchema.safeParse(await c.req.json().catch(() => null))
  if (!request.success) return respondWithMessage(400, "validator")
  const { validator, content_type: contentType } = request.data
  const database = openAccountDatabases(c.env, c.get("run").accountId)
  const storedBytes = await findComplete(c, objectKey, validator)
  let resumable: Upload | null = null
  for (const upload of await listUploadsOfObject(database, objectKey)) {
    const isSame = storedBytes === null && !resumable && upload.validator === validator
    if (isSame && (await renewUpload(database, upload.id, Date.now()))) resumable = upload
    else await abortAndDeleteUpload(c, upload)
  }
  if (storedBytes !== null) return answerBegun({ stored_bytes: storedBytes })
  if (resumable?.multipartId) return await answerFound(c, resumable.id, resumable.multipartId)
  return await beginAnew(c, objectKey, { validator, contentType })
}

async function answerFound(c: IoContext, id: string, multipartId: string): Promise<Response> {
  const parts = await listUploadParts(openAccountDatabases(c.env, c.get("run").accountId), id)
  return answerBegun({
    upload_id: multipartId,
    parts: parts.map(({ number, sizeBytes, etag }) => ({
      part_number: number,
      size_bytes: sizeBytes,
      etag,
    })),
  })
}

async function beginAnew(
  c: IoContext,
  objectKey: string,
  { validator, contentType }: { validator: string; contentType: string },
): Promise<Response> {
  const { accountId, taskId } = c.get("run")
  const { uploadId } = await c.env.MEDIA.createMultipartUpload(objectKey, {
    httpMetadata: { contentType },
    customMetadata: { validator },
  })
  await insertUpload(openAccountDatabases(c.env, accountId), {
    id: newId(),
    taskId,
    objectKey,
    multipartId: uploadId,
    validator,
    createdAt: Date.now(),
  })
  return answerBegun({ upload_id: uploadId, parts: [] })
}

function answerBegun(answer: z.infer<typeof resumableUploadResponseSchema>): Response {
  return Response.json(answer)
}

/**
 * Returns the size of the object that an earlier run completed from the same version of the source,
 * which the validator identifies. Returns null if no such object exists.
 */
async function findComplete(
  c: IoContext,
  objectKey: string,
  validator: string,
): Promise<number | null> {
  const object = await c.env.MEDIA.head(objectKey)
  return object?.customMetadata?.["validator"] === validator ? object.size : null
}

async function storePart(c: IoContext): Promise<Response> {
  const run = c.get("run")
  const outputKey = c.req.param("key") ?? ""
  const objectKey = resumableKey(c, outputKey)
  const multipartId = c.req.query("upload_id") ?? ""
  const number = Number(c.req.param("part"))
  const database = openAccountDatabases(c.env, run.accountId)
  const part = await beginUploadPart(database, run, { objectKey, multipartId, number })
  const { outputKeys, upload } = part
  if (!outputKeys) return respondWithMessage(410, "gone")
  if (!outputKeys.includes(outputKey)) return respondWithMessage(404, "no such output")
  if (!upload) return respondWithMessage(404, "no such upload")
  const multipart = c.env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  try {
    return await storeBody(
      c,
      (body) => multipart.uploadPart(number, body),
      async ({ etag }, sizeBytes) => {
        await saveUploadPart(database, upload.id, { number, etag, sizeBytes })
        return Response.json({ etag })
      },
    )
  } catch (error) {
    if (isMissingUploadError(error)) return respondWithMessage(404, "no such upload")
    throw error
  }
}

/**
 * Completes a resumable upload. Responds 409 if R2 has other parts. The run must then start a new
 * upload.
 */
async function complete(c: IoContext, objectKey: string): Promise<Response> {
  const openUpload = await findOpenUpload(c, objectKey)
  if (!openUpload) return await respondToCompletionOfUnknownUpload(c, objectKey)
  const parts = await readCompletedParts(c)
  if (!parts) return respondWithMessage(400, "parts")
  const { upload } = openUpload
  if (!(await completeUpload(c, openUpload, parts))) {
    const storedBytes = await findComplete(c, objectKey, upload.validator ?? "")
    return storedBytes === null
      ? respondWithMessage(409, "parts")
      : respondWithMessage(200, "stored")
  }
  await deleteUploadRow(openAccountDatabases(c.env, upload.accountId), upload.id)
  return respondWithMessage(200, "stored")
}
