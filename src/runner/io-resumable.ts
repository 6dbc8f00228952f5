import type { Hono } from "hono"
import { resumableBegin } from "../contract/resumable-upload.ts"
import type { resumableBegun } from "../contract/resumable-upload.ts"
import type { z } from "zod"
import { newId } from "../ids.ts"
import { databaseOf } from "../storage/database.ts"
import { isUploadMissing, outputObjectKey, RESUMABLE_FENCE } from "../storage/objects.ts"
import type { Upload } from "../storage/schema/uploads.ts"
import { beginPart, listParts, notePart } from "../storage/upload-parts.ts"
import { closeUpload, listUploadsOf, openUpload, renewUpload } from "../storage/uploads.ts"
import { storeBody } from "./io-body.ts"
import { readCompletion, say } from "./io-context.ts"
import type { Io, IoContext } from "./io-context.ts"
import { answerEnded, completeUpload, endUpload, findBegun, withOutputKey } from "./io-outputs.ts"

/**
 * Adds the routes of an upload that later runs of its task go on with: its object lies below the
 * prefix of the fence that no dispatch has. Every call needs the task to run at the caller's fence.
 */
export function addResumableRoutes(io: Hono<Io>): void {
  const place = "/:task/outputs/:key/resumable"
  io.post(place, (c) => withObjectKey(c, (objectKey) => begin(c, objectKey)))
  io.put(`${place}/parts/:part{[1-9]\\d{0,4}}`, storePart)
  io.post(`${place}/complete`, (c) => withObjectKey(c, (objectKey) => complete(c, objectKey)))
}

async function withObjectKey(
  c: IoContext,
  serve: (objectKey: string) => Promise<Response>,
): Promise<Response> {
  return await withOutputKey(c, (key) => serve(resumableKey(c, key)))
}

function resumableKey(c: IoContext, outputKey: string): string {
  const { accountId, taskId } = c.get("run")
  return outputObjectKey(accountId, { taskId, fence: RESUMABLE_FENCE }, outputKey)
}

/** Goes on with the upload of the same validator, or begins one; any other is aborted. */
async function begin(c: IoContext, objectKey: string): Promise<Response> {
  const wanted = resumableBegin.safeParse(await c.req.json().catch(() => null))
  if (!wanted.success) return say(400, "validator")
  const { validator, content_type: contentType } = wanted.data
  const database = databaseOf(c.env, c.get("run").accountId)
  const storedBytes = await findComplete(c, objectKey, validator)
  let found: Upload | null = null
  for (const upload of await listUploadsOf(database, objectKey)) {
    const isSame = storedBytes === null && !found && upload.validator === validator
    if (isSame && (await renewUpload(database, upload.id, Date.now()))) found = upload
    else await endUpload(c, upload)
  }
  if (storedBytes !== null) return answerBegun({ stored_bytes: storedBytes })
  if (found?.multipartId) return await answerFound(c, found.id, found.multipartId)
  return await beginAnew(c, objectKey, { validator, contentType })
}

async function answerFound(c: IoContext, id: string, multipartId: string): Promise<Response> {
  const parts = await listParts(databaseOf(c.env, c.get("run").accountId), id)
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
  await openUpload(databaseOf(c.env, accountId), {
    id: newId(),
    taskId,
    objectKey,
    multipartId: uploadId,
    validator,
    createdAt: Date.now(),
  })
  return answerBegun({ upload_id: uploadId, parts: [] })
}

function answerBegun(answer: z.infer<typeof resumableBegun>): Response {
  return Response.json(answer)
}

/** Size of the object that an earlier run completed, where its bytes are those wanted now. */
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
  const database = databaseOf(c.env, run.accountId)
  const begun = await beginPart(database, run, { objectKey, multipartId, number })
  const { outputKeys, upload } = begun
  if (!outputKeys) return say(410, "gone")
  if (!outputKeys.includes(outputKey)) return say(404, "no such output")
  if (!upload) return say(404, "no such upload")
  const multipart = c.env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  try {
    return await storeBody(
      c,
      (body) => multipart.uploadPart(number, body),
      async ({ etag }, sizeBytes) => {
        await notePart(database, upload.id, { number, etag, sizeBytes })
        return Response.json({ etag })
      },
    )
  } catch (error) {
    if (isUploadMissing(error)) return say(404, "no such upload")
    throw error
  }
}

/** Completes an upload; 409 where R2 has other parts of it: a new one has to begin. */
async function complete(c: IoContext, objectKey: string): Promise<Response> {
  const begun = await findBegun(c, objectKey)
  if (!begun) return await answerEnded(c, objectKey)
  const parts = await readCompletion(c)
  if (!parts) return say(400, "parts")
  const { upload } = begun
  if (!(await completeUpload(c, begun, parts))) {
    const storedBytes = await findComplete(c, objectKey, upload.validator ?? "")
    return storedBytes === null ? say(409, "parts") : say(200, "stored")
  }
  await closeUpload(databaseOf(c.env, upload.accountId), upload.id)
  return say(200, "stored")
}
