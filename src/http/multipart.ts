import { OTHER_PLAN } from "../contract/other-plan.ts"
import { settingsOf } from "../env.ts"
import { openBody } from "./body.ts"
import type { BodyReader } from "./body.ts"
import { publicOrigin, requirePlain } from "./request.ts"
import type { AppContext } from "./request.ts"
import { readParts } from "./multipart-parts.ts"
import { Problem, storageFull, unprocessable } from "./problem.ts"
import { fileNameOf } from "../kinds/file-name.ts"
import { hasSpace } from "../storage/state-disk.ts"
import { mediaTypes } from "./media-types.ts"

/** What boundaries, headers and fields may add to the file's own bytes. */
export const ENVELOPE_BYTES_MAX = 1024 * 1024

/** The file part of a multipart body, as its header says; `bytesMax` is the most that may come. */
export type FilePart = { name: string; contentType: string; bytesMax: number }

/** Where the bytes of a file part go; false where the disk has no room for them. */
export type FileSink = { write(bytes: Uint8Array): Promise<boolean> }

export type MultipartForm = { fields: Map<string, string>; file: FilePart | null }

/**
 * Receives a multipart body whose one file is the field `file`: its bytes go to the sink that
 * `openSink` opens, as they come.
 */
export async function receiveMultipart(
  c: AppContext,
  openSink: (file: FilePart) => FileSink,
): Promise<MultipartForm> {
  const { fileBytesMax } = c.get("limits")
  const bytesMax = Math.min(fileBytesMax, bodyBytesMaxOf(c))
  const fields = new Map<string, string>()
  let file: FilePart | null = null
  let sink: FileSink | null = null
  let sizeBytes = 0
  const body = bodyOf(c, fileBytesMax)
  if (!(await hasSpace(c.env, announcedBytes(c) ?? 0))) throw storageFull()
  for await (const event of readParts(c.req.header("content-type") ?? "", body)) {
    if (event.kind === "field") addField(fields, event)
    if (event.kind === "file") {
      if (file) throw unprocessable("file", TWO_FILES)
      if (event.name !== "file") {
        const message = `there is no such file field; did you mean \`file\`? As in ${curlOf(c)}`
        throw unprocessable(event.name || "body", message)
      }
      const name = fileNameOf(event.fileName)
      file = {
        name,
        contentType: contentTypeOf(name, event.contentType),
        bytesMax: Math.min(bytesMax, announcedBytes(c) ?? bytesMax),
      }
      sink = openSink(file)
    }
    if (event.kind === "bytes") {
      sizeBytes += event.bytes.byteLength
      if (sizeBytes > fileBytesMax) throw tooLarge(fileBytesMax)
      if (sink && !(await sink.write(event.bytes))) throw storageFull()
    }
  }
  return { fields, file }
}

const TWO_FILES = "expected one file, and there are two: send each by a request of its own"

function addField(fields: Map<string, string>, { name, value }: { name: string; value: string }) {
  if (fields.has(name)) throw unprocessable(name, "it is given twice")
  fields.set(name, value)
}

function bodyOf(c: AppContext, fileBytesMax: number): BodyReader {
  const type = c.req.header("content-type") ?? ""
  if (!/^multipart\/form-data\b/i.test(type)) {
    const message = `Send the body as application/json, or a file as multipart/form-data: ${curlOf(c)}`
    throw new Problem("unsupported_media_type", message)
  }
  if (!/;\s*boundary=\s*"?[^\s";]/i.test(type)) {
    const message = `expected multipart/form-data with a boundary: leave the header to your client, which makes it, as ${curlOf(c)}`
    throw unprocessable("content-type", message)
  }
  requirePlain(c)
  const announced = announcedBytes(c) ?? 0
  const planBytesMax = fileBytesMax + ENVELOPE_BYTES_MAX
  if (announced > planBytesMax) throw tooLarge(fileBytesMax)
  const bodyBytesMax = bodyBytesMaxOf(c)
  if (announced > bodyBytesMax) throw bodyTooLarge(bodyBytesMax)
  const body = openBody(c, {
    bytesMax: Math.min(planBytesMax, bodyBytesMax),
    tooLarge: () => {
      return planBytesMax <= bodyBytesMax ? tooLarge(fileBytesMax) : bodyTooLarge(bodyBytesMax)
    },
  })
  if (!body) throw unprocessable("body", "expected a multipart body, and it is empty")
  return body
}

/** A line for a shell that sends a file as this path takes it, in backticks. */
export function curlOf(c: AppContext): string {
  return `\`curl -H "X-API-KEY: $KEY" -F file=@film.mp4 ${publicOrigin(c)}${c.req.path}\``
}

function announcedBytes(c: AppContext): number | null {
  const announced = c.req.header("content-length")
  return announced === undefined ? null : Number(announced)
}

function tooLarge(bytesMax: number): Problem {
  return new Problem(
    "payload_too_large",
    `A file of this account may have ${bytesMax} bytes: make it smaller, or ${OTHER_PLAN}.`,
  )
}

/** Bytes that the body of an upload may have, whatever the plan of its account is. */
function bodyBytesMaxOf(c: AppContext): number {
  return settingsOf(c.env).UPLOAD_BODY_BYTES_MAX ?? Number.POSITIVE_INFINITY
}

function bodyTooLarge(bytesMax: number): Problem {
  return new Problem(
    "payload_too_large",
    `The body of an upload may have ${bytesMax} bytes here: bring a larger file in by its URL, as the \`file_url\` of POST /v1/files or as an input (https:// or s3://), or ask the operator of this service for a plan of Cloudflare that takes more; \`upload_body_bytes\` of GET /v1/account has the limit.`,
  )
}

/** Media type of a file by its name; where that says nothing, a medium that its caller named. */
export function contentTypeOf(name: string, named = ""): string {
  const medium = /^(?:video|audio|image)\/[\w.+-]+$/.exec(named)?.[0]
  return mediaTypes.getType(name) ?? medium ?? "application/octet-stream"
}
