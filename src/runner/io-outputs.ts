import type { Hono } from "hono"
import { bundleMemberNameSchema } from "../contract/bundle.ts"
import { newId } from "../platform/ids.ts"
import { openAccountDatabases } from "../db/database.ts"
import { abortMultipartUpload, isWrongPartError, isMissingUploadError } from "../objects/objects.ts"
import { makeMemberObjectKey, makeOutputObjectKey } from "../domain/object-keys.ts"
import type { Upload } from "../db/schema/uploads.ts"
import { findRunningTaskOutputKeys } from "../db/jobs/tasks.ts"
import { listUploadParts, saveUploadPart } from "../db/files/upload-parts.ts"
import {
  deleteUploadRow,
  findUpload,
  listUploadsOfObject,
  insertUpload,
} from "../db/files/uploads.ts"
import { storeBody } from "./io-body.ts"
import { readHttpMetadata, readCompletedParts, respondWithMessage } from "./io-context.ts"
import type { IoHonoEnv, IoContext } from "./io-context.ts"
import { findOutputKeysOfRun } from "./run-grants.ts"

/** Adds the routes by which a run stores the outputs of its task, as a whole or in parts. */
export function addOutputRoutes(io: Hono<IoHonoEnv>): void {
  // The pattern also matches an empty member name, so that the response is 400 (a bad name) and not
  // 404.
  for (const place of ["/:task/outputs/:key", "/:task/outputs/:key/members/:name{[^/]*}"]) {
    io.put(place, (c) => withOutput(c, (objectKey) => storeOutput(c, objectKey)))
    io.post(`${place}/parts`, (c) => withOutput(c, (objectKey) => beginParts(c, objectKey)))
    io.put(`${place}/parts/:part{[1-9]\\d{0,4}}`, (c) =>
      withOutput(c, (objectKey) => storePart(c, objectKey)),
    )
    io.post(`${place}/parts/complete`, (c) => withOutput(c, (key) => completeParts(c, key)))
  }
}

/**
 * Calls `serve` with the object key of the output or bundle member that the URL names, if the run
 * may store that object.
 */
async function withOutput(
  c: IoContext,
  serve: (objectKey: string) => Promise<Response>,
): Promise<Response> {
  const run = c.get("run")
  return await withKey(c, await findOutputKeysOfRun(c), async (key) => {
    const objectKey = makeOutputObjectKey(run.accountId, run, key)
    const encoded = new URL(c.req.url).pathname.split("/members/")[1]?.split("/", 1)[0]
    if (encoded === undefined) return await serve(objectKey)
    const name = bundleMemberNameSchema.safeParse(decode(encoded))
    return name.success
      ? await serve(makeMemberObjectKey(objectKey, name.data))
      : respondWithMessage(400, "name")
  })
}

/**
 * Calls `serve` with the output key that the URL names, if the task has this output. Responds 410
 * if, according to D1, the task no longer runs with the run's fencing token.
 */
export async function callWithOutputKey(
  c: IoContext,
  serve: (key: string) => Promise<Response>,
): Promise<Response> {
  const run = c.get("run")
  return await withKey(
    c,
    await findRunningTaskOutputKeys(openAccountDatabases(c.env, run.accountId), run),
    serve,
  )
}

async function withKey(
  c: IoContext,
  keys: string[] | null,
  serve: (key: string) => Promise<Response>,
): Promise<Response> {
  if (!keys) return respondWithMessage(410, "gone")
  const key = c.req.param("key") ?? ""
  return keys.includes(key) ? await serve(key) : respondWithMessage(404, "no such output")
}

function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

async function storeOutput(c: IoContext, objectKey: string): Promise<Response> {
  const httpMetadata = readHttpMetadata(c)
  return await storeBody(
    c,
    (body) => c.env.MEDIA.put(objectKey, body, { httpMetadata }),
    () => respondWithMessage(200, "stored"),
  )
}

async function beginParts(c: IoContext, objectKey: string): Promise<Response> {
  const { accountId, taskId } = c.get("run")
  const { uploadId } = await c.env.MEDIA.createMultipartUpload(objectKey, {
    httpMetadata: readHttpMetadata(c),
  })
  await insertUpload(openAccountDatabases(c.env, accountId), {
    id: newId(),
    taskId,
    objectKey,
    multipartId: uploadId,
    createdAt: Date.now(),
  })
  return Response.json({ upload_id: uploadId })
}

async function storePart(c: IoContext, objectKey: string): Promise<Response> {
  const openUpload = await findOpenUpload(c, objectKey)
  if (!openUpload) return respondWithMessage(404, "no such upload")
  const number = Number(c.req.param("part"))
  return await storeBody(
    c,
    (body) => openUpload.multipart.uploadPart(number, body),
    async ({ etag }, sizeBytes) => {
      const database = openAccountDatabases(c.env, c.get("run").accountId)
      await saveUploadPart(database, openUpload.upload.id, { number, etag, sizeBytes })
      return Response.json({ etag })
    },
  )
}

async function completeParts(c: IoContext, objectKey: string): Promise<Response> {
  const openUpload = await findOpenUpload(c, objectKey)
  if (!openUpload) return await respondToCompletionOfUnknownUpload(c, objectKey)
  const parts = await readCompletedParts(c)
  if (!parts) return respondWithMessage(400, "parts")
  if (!(await completeUpload(c, openUpload, parts))) return respondWithMessage(409, "parts")
  await closeOthers(c, objectKey, openUpload.upload.id)
  await deleteUploadRow(openAccountDatabases(c.env, c.get("run").accountId), openUpload.upload.id)
  return respondWithMessage(200, "stored")
}

/**
 * Completes the object of an upload from its parts. The etags come from D1 and not from the
 * request, because a repeated upload of a part may have overtaken the first upload. If R2 has other
 * parts or no such upload, removes the upload and returns false. The run must then start a new
 * upload.
 */
export async function completeUpload(
  c: IoContext,
  { upload, multipart }: { upload: Upload; multipart: R2MultipartUpload },
  parts: readonly R2UploadedPart[],
): Promise<boolean> {
  const noted = await listUploadParts(openAccountDatabases(c.env, upload.accountId), upload.id)
  const etags = new Map(noted.map(({ number, etag }) => [number, etag]))
  try {
    await multipart.complete(
      parts.map(({ partNumber, etag }) => ({ partNumber, etag: etags.get(partNumber) ?? etag })),
    )
    return true
  } catch (error) {
    if (!isMissingUploadError(error) && !isWrongPartError(error)) throw error
    await abortAndDeleteUpload(c, upload)
    return false
  }
}

/**
 * Aborts all other uploads of the same object, for example an upload whose transfer was
 * interrupted.
 */
async function closeOthers(c: IoContext, objectKey: string, id: string): Promise<void> {
  const database = openAccountDatabases(c.env, c.get("run").accountId)
  for (const upload of await listUploadsOfObject(database, objectKey)) {
    if (upload.id !== id) await abortAndDeleteUpload(c, upload)
  }
}

/** Aborts a multipart upload in R2 and deletes the upload's row in D1. */
export async function abortAndDeleteUpload(c: IoContext, upload: Upload): Promise<void> {
  await abortMultipartUpload(c.env.MEDIA, upload)
  await deleteUploadRow(openAccountDatabases(c.env, upload.accountId), upload.id)
}

/**
 * Responds to the completion of an upload without a row in D1. Responds 200 if the object exists,
 * because the response to an earlier completion may have been lost.
 */
export async function respondToCompletionOfUnknownUpload(
  c: IoContext,
  objectKey: string,
): Promise<Response> {
  const isComplete = (await c.env.MEDIA.head(objectKey)) !== null
  return isComplete ? respondWithMessage(200, "stored") : respondWithMessage(404, "no such upload")
}

/**
 * Returns the upload that a request names: the upload's row in D1, and the multipart upload in R2.
 * Returns null if the upload has no row.
 */
export async function findOpenUpload(c: IoContext, objectKey: string) {
  const multipartId = c.req.query("upload_id") ?? ""
  const database = openAccountDatabases(c.env, c.get("run").accountId)
  const upload = await findUpload(database, objectKey, multipartId)
  if (!upload) return null
  const multipart = c.env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  return { upload, multipart }
}
