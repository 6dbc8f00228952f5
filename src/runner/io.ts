import { Hono } from "hono"
import { z } from "zod"
import { readBoundedText } from "../platform/bounded-text.ts"
import { RUNNER_BOOT_ID_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../contract/protocol.ts"
import { hasTooBigZodIssue } from "../contract/too-big-issue.ts"
import { makeOversizedReportFailure, reportSchema, REPORT_BYTES_MAX } from "../contract/report.ts"
import type { Report } from "../contract/report.ts"
import { fileKeySchema } from "../contract/task.ts"
import { getSettings } from "../bindings/env.ts"
import type { Env } from "../bindings/env.ts"
import type { TaskRun } from "../bindings/rpc.ts"
import { respondWithMessage } from "./io-context.ts"
import type { IoHonoEnv, IoContext } from "./io-context.ts"
import { addOutputRoutes } from "./io-outputs.ts"
import { addResumableUploadRoutes } from "./io-resumable.ts"
import { findInputObjectKey } from "./run-grants.ts"
import { streamS3Object } from "./io-source.ts"
import { verifyTaskToken } from "./task-token.ts"

/**
 * Outcome of a report. `ok` means that the report was applied. `gone` means that the run no longer
 * has its task, so that the runner kills the run. `invalid` means that the result does not match
 * the schema of the task.
 */
export type ReportOutcome = "ok" | "gone" | "invalid"

export type ReportHandler = (env: Env, run: TaskRun, received: Report) => Promise<ReportOutcome>

/**
 * Builds the routes that a runner calls for its task, mounted at `/io`: `/{task}/inputs/{key}`,
 * `/{task}/source`, `/{task}/outputs/{key}`, `/{task}/outputs/{key}/members/{name}`,
 * `/{task}/outputs/{key}/resumable` and `/{task}/reports`. Responds 401 for a forged token or the
 * token of another task, and 410 if the task no longer runs with the token's `fence`.
 */
export function makeIoRoutes(onReport: ReportHandler): Hono<IoHonoEnv> {
  const io = new Hono<IoHonoEnv>()
  io.use("/:task/*", async (c, next) => {
    if (c.req.header(PROTOCOL_HEADER) !== PROTOCOL_VERSION)
      return respondWithMessage(426, "protocol")
    const token = c.req.header("authorization")?.replace(/^Bearer /, "") ?? ""
    const read = await verifyTaskToken(getSettings(c.env).LATHE_SECRET, token)
    if (read?.run.taskId !== c.req.param("task")) return respondWithMessage(401, "token")
    c.set("run", read.run)
    c.set("grant", read.grant)
    return await next()
  })
  io.post("/:task/reports", (c) => receive(c, onReport))
  io.get("/:task/inputs/:key", sendInput)
  io.get("/:task/source", streamS3Object)
  addOutputRoutes(io)
  addResumableUploadRoutes(io)
  io.all("/:task/*", () => respondWithMessage(404, "no such route"))
  return io
}

async function receive(c: IoContext, onReport: ReportHandler): Promise<Response> {
  const boot = c.req.header(RUNNER_BOOT_ID_HEADER) ?? ""
  const text = await readBoundedText(c.req.raw.body, REPORT_BYTES_MAX).catch(() => "")
  const read = text === null ? makeOversizedReportFailure(boot) : parseReport(text, boot)
  if ("refused" in read) return respondWithMessage(400, read.refused)
  if (boot !== read.boot) return respondWithMessage(400, "boot")
  const receipt = await onReport(c.env, c.get("run"), read)
  if (receipt === "invalid") return respondWithMessage(400, "result")
  return receipt === "ok" ? respondWithMessage(200, "ok") : respondWithMessage(410, "gone")
}

/**
 * Parses a report. Replaces an oversized report by a failure of its task, because the runner would
 * send the same report again.
 */
function parseReport(text: string, boot: string): Report | { refused: string } {
  const received = reportSchema.safeParse(parseJson(text))
  if (received.success) return received.data
  if (hasTooBigZodIssue(received.error)) return makeOversizedReportFailure(boot)
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
  const key = fileKeySchema.safeParse(c.req.param("key"))
  if (!key.success) return respondWithMessage(404, "no such input")
  const objectKey = await findInputObjectKey(c, key.data)
  if (objectKey === null) return respondWithMessage(410, "gone")
  const headers = c.req.raw.headers
  const object = await c.env.MEDIA.get(objectKey, headers.has("range") ? { range: headers } : {})
  if (!object) return respondWithMessage(404, "no such object")
  const { offset, length } = sentRange(object)
  const answerHeaders = new Headers({ "content-length": String(length) })
  // Responds 200 with the whole object, which R2 also sends if the requested range is
  // unsatisfiable.
  if (length === object.size) return new Response(object.body, { headers: answerHeaders })
  answerHeaders.set("content-range", `bytes ${offset}-${offset + length - 1}/${object.size}`)
  return new Response(object.body, { status: 206, headers: answerHeaders })
}

/** Byte range that R2 reports for an object that it sends; each field may be undefined. */
type R2Sent = Partial<Record<"offset" | "length" | "suffix", number | undefined>>

function sentRange({ range, size }: R2Object): { offset: number; length: number } {
  const sentRange: R2Sent = range ?? {}
  if (sentRange.suffix !== undefined)
    return { offset: size - sentRange.suffix, length: sentRange.suffix }
  const offset = sentRange.offset ?? 0
  return { offset, length: sentRange.length ?? size - offset }
}
