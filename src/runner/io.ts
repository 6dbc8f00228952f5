import { Hono } from "hono"
import { z } from "zod"
import { readTextUpTo } from "../bounded-text.ts"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../contract/protocol.ts"
import { isOversized } from "../contract/oversized.ts"
import { oversizedReport, report, REPORT_BYTES_MAX } from "../contract/report.ts"
import type { Report } from "../contract/report.ts"
import { fileKey } from "../contract/task.ts"
import { settingsOf } from "../env.ts"
import type { Env } from "../env.ts"
import type { TaskRun } from "../rpc.ts"
import { say } from "./io-context.ts"
import type { Io, IoContext } from "./io-context.ts"
import { addOutputRoutes } from "./io-outputs.ts"
import { addResumableRoutes } from "./io-resumable.ts"
import { inputObjectOf } from "./known-runs.ts"
import { sendSource } from "./io-source.ts"
import { readTaskToken } from "./token.ts"

/**
 * What a report came to: it counts, its run is to be killed, or its result is not what the
 * definition of its kind of task says.
 */
export type ReportReceipt = "ok" | "gone" | "invalid"

export type OnReport = (env: Env, run: TaskRun, received: Report) => Promise<ReportReceipt>

/**
 * The routes that a runner has for its task, mounted at `/io`: `/{task}/inputs/{key}`, `/{task}/source`,
 * `/{task}/outputs/{key}`, `/{task}/outputs/{key}/members/{name}`, `/{task}/outputs/{key}/resumable` and
 * `/{task}/reports`. 401 for a token that is not ours or another task's, 410 where the task no longer runs at its fence.
 */
export function makeIo(onReport: OnReport): Hono<Io> {
  const io = new Hono<Io>()
  io.use("/:task/*", async (c, next) => {
    if (c.req.header(PROTOCOL_HEADER) !== PROTOCOL_VERSION) return say(426, "protocol")
    const token = c.req.header("authorization")?.replace(/^Bearer /, "") ?? ""
    const read = await readTaskToken(settingsOf(c.env).LATHE_SECRET, token)
    if (read?.run.taskId !== c.req.param("task")) return say(401, "token")
    c.set("run", read.run)
    c.set("grant", read.grant)
    return await next()
  })
  io.post("/:task/reports", (c) => receive(c, onReport))
  io.get("/:task/inputs/:key", sendInput)
  io.get("/:task/source", sendSource)
  addOutputRoutes(io)
  addResumableRoutes(io)
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
  const objectKey = await inputObjectOf(c, key.data)
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
