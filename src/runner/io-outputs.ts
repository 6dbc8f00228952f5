import type { Hono } from "hono"
import { memberName } from "../contract/bundle.ts"
import { newId } from "../ids.ts"
import { databaseOf } from "../storage/database.ts"
import {
  abortUpload,
  isPartWrong,
  isUploadMissing,
  memberObjectKey,
  outputObjectKey,
} from "../storage/objects.ts"
import type { Upload } from "../storage/schema/uploads.ts"
import { findOutputKeys } from "../storage/tasks.ts"
import { listParts, notePart } from "../storage/upload-parts.ts"
import { closeUpload, findUpload, listUploadsOf, openUpload } from "../storage/uploads.ts"
import { storeBody } from "./io-body.ts"
import { metadataOf, readCompletion, say } from "./io-context.ts"
import type { Io, IoContext } from "./io-context.ts"
import { outputKeysOfRun } from "./known-runs.ts"

/** Adds the routes by which a task stores its outputs, whole or in parts. */
export function addOutputRoutes(io: Hono<Io>): void {
  // An empty member name matches too, so that it is refused as a name and not as a route.
  for (const place of ["/:task/outputs/:key", "/:task/outputs/:key/members/:name{[^/]*}"]) {
    io.put(place, (c) => withOutput(c, (objectKey) => storeOutput(c, objectKey)))
    io.post(`${place}/parts`, (c) => withOutput(c, (objectKey) => beginParts(c, objectKey)))
    io.put(`${place}/parts/:part{[1-9]\\d{0,4}}`, (c) =>
      withOutput(c, (objectKey) => storePart(c, objectKey)),
    )
    io.post(`${place}/parts/complete`, (c) => withOutput(c, (key) => completeParts(c, key)))
  }
}

/** Serves a route of an output, or of a member of one, that the task may store. */
async function withOutput(
  c: IoContext,
  serve: (objectKey: string) => Promise<Response>,
): Promise<Response> {
  const run = c.get("run")
  return await withKey(c, await outputKeysOfRun(c), async (key) => {
    const objectKey = outputObjectKey(run.accountId, run, key)
    const encoded = new URL(c.req.url).pathname.split("/members/")[1]?.split("/", 1)[0]
    if (encoded === undefined) return await serve(objectKey)
    const name = memberName.safeParse(decode(encoded))
    return name.success ? await serve(memberObjectKey(objectKey, name.data)) : say(400, "name")
  })
}

/**
 * Serves a route of an output that the task may store, whichever run of it: 410 where D1 says now that it
 * does not run at its fence.
 */
export async function withOutputKey(
  c: IoContext,
  serve: (key: string) => Promise<Response>,
): Promise<Response> {
  const run = c.get("run")
  return await withKey(c, await findOutputKeys(databaseOf(c.env, run.accountId), run), serve)
}

async function withKey(
  c: IoContext,
  keys: string[] | null,
  serve: (key: string) => Promise<Response>,
): Promise<Response> {
  if (!keys) return say(410, "gone")
  const key = c.req.param("key") ?? ""
  return keys.includes(key) ? await serve(key) : say(404, "no such output")
}

function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

async function storeOutput(c: IoContext, objectKey: string): Promise<Response> {
  const httpMetadata = metadataOf(c)
  return await storeBody(
    c,
    (body) => c.env.MEDIA.put(objectKey, body, { httpMetadata }),
    () => say(200, "stored"),
  )
}

async function beginParts(c: IoContext, objectKey: string): Promise<Response> {
  const { accountId, taskId } = c.get("run")
  const { uploadId } = await c.env.MEDIA.createMultipartUpload(objectKey, {
    httpMetadata: metadataOf(c),
  })
  await openUpload(databaseOf(c.env, accountId), {
    id: newId(),
    taskId,
    objectKey,
    multipartId: uploadId,
    createdAt: Date.now(),
  })
  return Response.json({ upload_id: uploadId })
}

async function storePart(c: IoContext, objectKey: string): Promise<Response> {
  const begun = await findBegun(c, objectKey)
  if (!begun) return say(404, "no such upload")
  const number = Number(c.req.param("part"))
  return await storeBody(
    c,
    (body) => begun.multipart.uploadPart(number, body),
    async ({ etag }, sizeBytes) => {
      const database = databaseOf(c.env, c.get("run").accountId)
      await notePart(database, begun.upload.id, { number, etag, sizeBytes })
      return Response.json({ etag })
    },
  )
}

async function completeParts(c: IoContext, objectKey: string): Promise<Response> {
  const begun = await findBegun(c, objectKey)
  if (!begun) return await answerEnded(c, objectKey)
  const parts = await readCompletion(c)
  if (!parts) return say(400, "parts")
  if (!(await completeUpload(c, begun, parts))) return say(409, "parts")
  await closeOthers(c, objectKey, begun.upload.id)
  await closeUpload(databaseOf(c.env, c.get("run").accountId), begun.upload.id)
  return say(200, "stored")
}

/**
 * Makes the object of an upload from these parts, each by the last etag that R2 answered, since a part that
 * was sent again may have overtaken its predecessor. False where R2 has other parts, as where one was stored
 * twice and only one of its etags came back: the upload is gone then, and a new one has to begin.
 */
export async function completeUpload(
  c: IoContext,
  { upload, multipart }: { upload: Upload; multipart: R2MultipartUpload },
  parts: readonly R2UploadedPart[],
): Promise<boolean> {
  const noted = await listParts(databaseOf(c.env, upload.accountId), upload.id)
  const etags = new Map(noted.map(({ number, etag }) => [number, etag]))
  try {
    await multipart.complete(
      parts.map(({ partNumber, etag }) => ({ partNumber, etag: etags.get(partNumber) ?? etag })),
    )
    return true
  } catch (error) {
    if (!isUploadMissing(error) && !isPartWrong(error)) throw error
    await endUpload(c, upload)
    return false
  }
}

/** Ends uploads of an object that were begun before the one that made it, as of a source that was cut. */
async function closeOthers(c: IoContext, objectKey: string, id: string): Promise<void> {
  const database = databaseOf(c.env, c.get("run").accountId)
  for (const upload of await listUploadsOf(database, objectKey)) {
    if (upload.id !== id) await endUpload(c, upload)
  }
}

/** Ends an upload that nothing will come of. */
export async function endUpload(c: IoContext, upload: Upload): Promise<void> {
  await abortUpload(c.env.MEDIA, upload)
  await closeUpload(databaseOf(c.env, upload.accountId), upload.id)
}

/** Answers who completes an upload that is none: the answer to an earlier call may have been lost. */
export async function answerEnded(c: IoContext, objectKey: string): Promise<Response> {
  const isComplete = (await c.env.MEDIA.head(objectKey)) !== null
  return isComplete ? say(200, "stored") : say(404, "no such upload")
}

/** The upload that a request names, as its row and as R2 has it; null where there is none. */
export async function findBegun(c: IoContext, objectKey: string) {
  const multipartId = c.req.query("upload_id") ?? ""
  const database = databaseOf(c.env, c.get("run").accountId)
  const upload = await findUpload(database, objectKey, multipartId)
  if (!upload) return null
  const multipart = c.env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  return { upload, multipart }
}
