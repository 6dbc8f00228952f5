import { z } from "zod"
import { memberName } from "../contract/bundle.ts"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../contract/protocol.ts"
import { report } from "../contract/report.ts"
import type { Report } from "../contract/report.ts"
import { fileKey } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { openDatabase } from "../storage/database.ts"
import { memberObjectKey, outputObjectKey } from "../storage/objects.ts"
import { findInputObject, findOutputKeys } from "../storage/tasks.ts"
import { closeUpload, findUpload, openUpload } from "../storage/uploads.ts"
import { newId } from "../ids.ts"
import { readTaskToken } from "./token.ts"
import type { TaskRun } from "./token.ts"

/** What to do with a report; false where the run is to be killed. */
export type OnReport = (env: Env, run: TaskRun, told: Report) => Promise<boolean>

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int().positive(), etag: z.string() })).min(1),
})

/**
 * Answers what a runner asks for its task: `/io/{task}/inputs/{key}`, `/outputs/{key}`,
 * `/outputs/{key}/members/{name}` and `/reports`. 401 for a token that is not ours, 410 where the
 * task no longer runs at its fence.
 */
export async function handleIo(request: Request, env: Env, onReport: OnReport): Promise<Response> {
  if (request.headers.get(PROTOCOL_HEADER) !== PROTOCOL_VERSION) return say(426, "protocol")
  const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? ""
  const run = await readTaskToken(settingsOf(env).LATHE_SECRET, token)
  const url = new URL(request.url)
  const [taskId, room, key, ...path] = url.pathname.split("/").slice(2)
  if (!run || run.taskId !== taskId) return say(401, "token")
  if (room === "reports" && request.method === "POST")
    return await hear(request, (told) => onReport(env, run, told))
  const named = fileKey.safeParse(key)
  if (!named.success) return say(404, "no such route")
  if (room === "inputs" && request.method === "GET") {
    return await sendInput(request, env, run, named.data)
  }
  if (room !== "outputs") return say(404, "no such route")
  const keys = await findOutputKeys(openDatabase(env.DB), run)
  if (!keys) return say(410, "gone")
  if (!keys.includes(named.data)) return say(404, "no such output")
  const place = readPlace(outputObjectKey(run, named.data), path)
  if (!place) return say(400, "name")
  const { objectKey, rest } = place
  const route = `${request.method} ${rest.map((word) => (Number(word) ? "{n}" : word)).join("/")}`
  if (route === "PUT ") return await storeOutput(request, env, objectKey)
  if (route === "POST parts") return await beginParts(request, env, run, objectKey)
  const multipartId = url.searchParams.get("upload_id") ?? ""
  const upload = await findUpload(openDatabase(env.DB), objectKey, multipartId)
  if (!upload) {
    // The answer to an earlier call was lost: what it made whole is there.
    const whole = route === "POST parts/complete" && (await env.MEDIA.head(objectKey)) !== null
    return whole ? say(200, "stored") : say(404, "no such upload")
  }
  const multipart = env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  if (route === "PUT parts/{n}") return await storePart(request, multipart, Number(rest[1]))
  if (route !== "POST parts/complete") return say(404, "no such route")
  const { parts } = completion.parse(await request.json())
  await multipart.complete(
    parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag })),
  )
  await closeUpload(openDatabase(env.DB), upload.id)
  return say(200, "stored")
}

/** The object that a path below an output means, of itself or of a member; null for a bad name. */
function readPlace(objectKey: string, path: string[]) {
  const [word, encoded = "", ...rest] = path
  if (word !== "members") return { objectKey, rest: path }
  const name = memberName.safeParse(decode(encoded))
  return name.success ? { objectKey: memberObjectKey(objectKey, name.data), rest } : null
}

function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

async function hear(
  request: Request,
  onReport: (told: Report) => Promise<boolean>,
): Promise<Response> {
  const told = report.safeParse(await request.json().catch(() => null))
  if (!told.success) return say(400, z.prettifyError(told.error))
  if (request.headers.get(BOOT_HEADER) !== told.data.boot) return say(400, "boot")
  return (await onReport(told.data)) ? say(200, "ok") : say(410, "gone")
}

async function sendInput(request: Request, env: Env, run: TaskRun, key: string): Promise<Response> {
  const objectKey = await findInputObject(openDatabase(env.DB), run, key)
  if (objectKey === null) return say(410, "gone")
  const ranged = request.headers.has("range")
  const object = await env.MEDIA.get(objectKey, ranged ? { range: request.headers } : {})
  if (!object) return say(404, "no such object")
  const { offset, length } = sentPart(object)
  const headers = new Headers({ "content-length": String(length) })
  // R2 sends the whole for a range that it cannot make sense of.
  if (length === object.size) return new Response(object.body, { headers })
  headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${object.size}`)
  return new Response(object.body, { status: 206, headers })
}

/** What R2 says of the bytes that it sends; any of it may be there without a value. */
type Sent = Partial<Record<"offset" | "length" | "suffix", number | undefined>>

/** Which bytes of an object R2 sends, in bytes from its beginning. */
function sentPart({ range, size }: R2Object): { offset: number; length: number } {
  const sent: Sent = range ?? {}
  if (sent.suffix !== undefined) return { offset: size - sent.suffix, length: sent.suffix }
  const offset = sent.offset ?? 0
  return { offset, length: sent.length ?? size - offset }
}

async function storeOutput(request: Request, env: Env, objectKey: string): Promise<Response> {
  if (!request.headers.has("content-length")) return say(411, "content-length")
  await env.MEDIA.put(objectKey, request.body ?? "", { httpMetadata: metadataOf(request) })
  return say(200, "stored")
}

async function beginParts(
  request: Request,
  env: Env,
  run: TaskRun,
  objectKey: string,
): Promise<Response> {
  const { uploadId } = await env.MEDIA.createMultipartUpload(objectKey, {
    httpMetadata: metadataOf(request),
  })
  await openUpload(openDatabase(env.DB), {
    id: newId(),
    accountId: run.accountId,
    taskId: run.taskId,
    objectKey,
    multipartId: uploadId,
    createdAt: Date.now(),
  })
  return Response.json({ upload_id: uploadId })
}

async function storePart(
  request: Request,
  upload: R2MultipartUpload,
  partNumber: number,
): Promise<Response> {
  if (!request.body) return say(400, "body")
  const part = await upload.uploadPart(partNumber, request.body)
  return Response.json({ etag: part.etag })
}

function metadataOf(request: Request): R2HTTPMetadata {
  return { contentType: request.headers.get("content-type") ?? "application/octet-stream" }
}

function say(status: number, message: string): Response {
  return Response.json({ message }, { status })
}
