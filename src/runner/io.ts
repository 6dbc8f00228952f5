import { Hono } from "hono"
import type { Context } from "hono"
import { z } from "zod"
import { readTextUpTo } from "../bounded-text.ts"
import { memberName } from "../contract/bundle.ts"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../contract/protocol.ts"
import { isOversized } from "../contract/oversized.ts"
import { oversizedReport, report, REPORT_BYTES_MAX } from "../contract/report.ts"
import type { Report } from "../contract/report.ts"
import { fileKey } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import { newId } from "../ids.ts"
import type { TaskRun } from "../rpc.ts"
import { databaseOf } from "../storage/database.ts"
import { spaceOf } from "../storage/state-disk.ts"
import { memberObjectKey, outputObjectKey } from "../storage/objects.ts"
import { findInputObject, findOutputKeys } from "../storage/tasks.ts"
import { closeUpload, findUpload, openUpload } from "../storage/uploads.ts"
import { readTaskToken } from "./token.ts"

/**
 * What a report came to: it counts, its run is to be killed, or its result is not what the
 * definition of its kind of task says.
 */
export type ReportReceipt = "ok" | "gone" | "invalid"

export type OnReport = (env: Env, run: TaskRun, received: Report) => Promise<ReportReceipt>

type Io = { Bindings: Env; Variables: { run: TaskRun } }
type IoContext = Context<Io>

const completion = z.object({
  parts: z.array(z.object({ part_number: z.int().positive(), etag: z.string() })).min(1),
})

/**
 * The routes that a runner has for its task, mounted at `/io`: `/{task}/inputs/{key}`,
 * `/{task}/outputs/{key}`, `/{task}/outputs/{key}/members/{name}` and `/{task}/reports`. 401 for a
 * token that is not ours or another task's, 410 where the task no longer runs at its fence.
 */
export function makeIo(onReport: OnReport): Hono<Io> {
  const io = new Hono<Io>()
  io.use("/:task/*", async (c, next) => {
    if (c.req.header(PROTOCOL_HEADER) !== PROTOCOL_VERSION) return say(426, "protocol")
    const token = c.req.header("authorization")?.replace(/^Bearer /, "") ?? ""
    const run = await readTaskToken(settingsOf(c.env).LATHE_SECRET, token)
    if (!run || run.taskId !== c.req.param("task")) return say(401, "token")
    c.set("run", run)
    return await next()
  })
  io.post("/:task/reports", (c) => receive(c, onReport))
  io.get("/:task/inputs/:key", sendInput)
  // An empty member name matches too, so that it is refused as a name and not as a route.
  for (const place of ["/:task/outputs/:key", "/:task/outputs/:key/members/:name{[^/]*}"]) {
    io.put(place, (c) => withOutput(c, (objectKey) => storeOutput(c, objectKey)))
    io.post(`${place}/parts`, (c) => withOutput(c, (objectKey) => beginParts(c, objectKey)))
    io.put(`${place}/parts/:part{[1-9]\\d{0,4}}`, (c) =>
      withOutput(c, (objectKey) => storePart(c, objectKey)),
    )
    io.post(`${place}/parts/complete`, (c) => withOutput(c, (key) => completeParts(c, key)))
  }
  io.all("/:task/*", () => say(404, "no such route"))
  return io
}

async function receive(c: IoContext, onReport: OnReport): Promise<Response> {
  const boot = c.req.header(BOOT_HEADER) ?? ""
  const text = await readTextUpTo(c.req.raw.body, REPORT_BYTES_MAX).catch(() => "")
  const read = text === null ? oversizedReport(boot) : parseReport(text, boot)
  if ("refused" in read) return say(400, read.refused)
  if (boot !== read.boot) return say(400, "boot")
  const receipt = await onReport(c.env, c.get("run"), read)
  if (receipt === "invalid") return say(400, "result")
  return receipt === "ok" ? say(200, "ok") : say(410, "gone")
}

/** A report that says too much can never be kept, however often it is sent. */
function parseReport(text: string, boot: string): Report | { refused: string } {
  const received = report.safeParse(parseJson(text))
  if (received.success) return received.data
  if (isOversized(received.error)) return oversizedReport(boot)
  return { refused: z.prettifyError(received.error) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function sendInput(c: IoContext): Promise<Response> {
  const key = fileKey.safeParse(c.req.param("key"))
  if (!key.success) return say(404, "no such input")
  const run = c.get("run")
  const objectKey = await findInputObject(databaseOf(c.env, run.accountId), run, key.data)
  if (objectKey === null) return say(410, "gone")
  const headers = c.req.raw.headers
  const object = await c.env.MEDIA.get(objectKey, headers.has("range") ? { range: headers } : {})
  if (!object) return say(404, "no such object")
  const { offset, length } = sentRange(object)
  const answered = new Headers({ "content-length": String(length) })
  // R2 sends the whole for a range that it cannot make sense of.
  if (length === object.size) return new Response(object.body, { headers: answered })
  answered.set("content-range", `bytes ${offset}-${offset + length - 1}/${object.size}`)
  return new Response(object.body, { status: 206, headers: answered })
}

/** Which bytes R2 sends; any of the members may be there without a value. */
type R2Sent = Partial<Record<"offset" | "length" | "suffix", number | undefined>>

function sentRange({ range, size }: R2Object): { offset: number; length: number } {
  const sent: R2Sent = range ?? {}
  if (sent.suffix !== undefined) return { offset: size - sent.suffix, length: sent.suffix }
  const offset = sent.offset ?? 0
  return { offset, length: sent.length ?? size - offset }
}

/** Serves a route of an output, or of a member of one, that the task may store. */
async function withOutput(
  c: IoContext,
  serve: (objectKey: string) => Promise<Response>,
): Promise<Response> {
  const run = c.get("run")
  const keys = await findOutputKeys(databaseOf(c.env, run.accountId), run)
  if (!keys) return say(410, "gone")
  const key = c.req.param("key") ?? ""
  if (!keys.includes(key)) return say(404, "no such output")
  const objectKey = outputObjectKey(run.accountId, run, key)
  const encoded = new URL(c.req.url).pathname.split("/members/")[1]?.split("/", 1)[0]
  if (encoded === undefined) return await serve(objectKey)
  const name = memberName.safeParse(decode(encoded))
  return name.success ? await serve(memberObjectKey(objectKey, name.data)) : say(400, "name")
}

function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

async function storeOutput(c: IoContext, objectKey: string): Promise<Response> {
  return await withSpace(c, async () => {
    await c.env.MEDIA.put(objectKey, c.req.raw.body ?? "", { httpMetadata: metadataOf(c) })
    return say(200, "stored")
  })
}

/** Stores a body of a known length; 507 where the disk has no room for it. */
async function withSpace(c: IoContext, store: () => Promise<Response>): Promise<Response> {
  const length = c.req.header("content-length")
  if (length === undefined) return say(411, "content-length")
  const space = await spaceOf(c.env)(Number(length))
  if (!space) return say(507, "the disk is full")
  try {
    return await store()
  } finally {
    space.release()
  }
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
  const { body } = c.req.raw
  if (!body) return say(400, "body")
  return await withSpace(c, async () => {
    const part = await begun.multipart.uploadPart(Number(c.req.param("part")), body)
    return Response.json({ etag: part.etag })
  })
}

async function completeParts(c: IoContext, objectKey: string): Promise<Response> {
  const begun = await findBegun(c, objectKey)
  if (!begun) {
    // The answer to an earlier call was lost: the object that it completed is there.
    const isComplete = (await c.env.MEDIA.head(objectKey)) !== null
    return isComplete ? say(200, "stored") : say(404, "no such upload")
  }
  const completed = completion.safeParse(await c.req.json().catch(() => null))
  if (!completed.success) return say(400, "parts")
  await begun.multipart.complete(
    completed.data.parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag })),
  )
  await closeUpload(databaseOf(c.env, c.get("run").accountId), begun.uploadId)
  return say(200, "stored")
}

async function findBegun(c: IoContext, objectKey: string) {
  const multipartId = c.req.query("upload_id") ?? ""
  const database = databaseOf(c.env, c.get("run").accountId)
  const upload = await findUpload(database, objectKey, multipartId)
  if (!upload) return null
  const multipart = c.env.MEDIA.resumeMultipartUpload(objectKey, multipartId)
  return { uploadId: upload.id, multipart }
}

function metadataOf(c: IoContext): R2HTTPMetadata {
  return { contentType: c.req.header("content-type") ?? "application/octet-stream" }
}

function say(status: number, message: string): Response {
  return Response.json({ message }, { status })
}
