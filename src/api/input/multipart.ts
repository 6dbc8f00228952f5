import { PLAN_LIMIT_REMEDY } from "../../contract/plan-limit-remedy.ts"
import { getSettings } from "../../bindings/env.ts"
import { createBodyReader } from "./body.ts"
import type { BodyReader } from "./body.ts"
import { getPublicOrigin, requireUncompressed } from "./request.ts"
import type { AppContext } from "../context.ts"
import { parseMultipartParts } from "./multipart-parts.ts"
import { Problem, storageFullProblem, invalidFieldProblem } from "../output/problem.ts"
import { sanitizeFileName } from "../../kinds/file-name.ts"
import { hasDiskSpace } from "../../bindings/storage-disk.ts"
import { Mime } from "mime"
import otherTypes from "mime/types/other.js"
import standardTypes from "mime/types/standard.js"
import { MEDIA_TYPE_OVERRIDES } from "../../contract/media-types.ts"

/** Media types by file extension. */
const mediaTypes = new Mime(standardTypes, otherTypes).define(MEDIA_TYPE_OVERRIDES, true)

/** Maximum size in bytes of the boundaries, headers and text fields of an upload. */
export const MULTIPART_OVERHEAD_BYTES_MAX = 1024 * 1024

/**
 * File part of a multipart body: file name, media type, and the maximum size of the file in bytes.
 */
export type FilePart = { name: string; contentType: string; bytesMax: number }

/**
 * Destination of the bytes of an uploaded file. `moreBytes` is the minimum number of bytes that
 * follow the written bytes. `write` returns false if the disk is full.
 */
export type FileSink = { write(bytes: Uint8Array, moreBytes: number): Promise<boolean> }

export type MultipartForm = { fields: Map<string, string>; file: FilePart | null }

/**
 * Receives a multipart body with at most one file, in the field `file`. Streams the file to the
 * sink that `openSink` returns.
 */
export async function receiveMultipart(
  c: AppContext,
  openSink: (file: FilePart) => FileSink,
): Promise<MultipartForm> {
  const { fileBytesMax } = c.get("limits")
  const bytesMax = Math.min(fileBytesMax, readBodyBytesMax(c))
  const fields = new Map<string, string>()
  let file: FilePart | null = null
  let sink: FileSink | null = null
  let sizeBytes = 0
  const body = openMultipartBody(c, fileBytesMax)
  const announced = readAnnouncedBytes(c)
  if (!(await hasDiskSpace(c.env, announced ?? 0))) throw storageFullProblem()
  for await (const event of parseMultipartParts(c.req.header("content-type") ?? "", body)) {
    if (event.kind === "field") addField(fields, event)
    if (event.kind === "file") {
      if (file) throw invalidFieldProblem("file", TWO_FILES)
      if (event.name !== "file") {
        const message = `unknown file field; did you mean \`file\`? As in ${formatCurlUpload(c)}`
        throw invalidFieldProblem(event.name || "body", message)
      }
      const name = sanitizeFileName(event.fileName)
      file = {
        name,
        contentType: detectContentType(name, event.contentType),
        bytesMax: Math.min(bytesMax, announced ?? bytesMax),
      }
      sink = openSink(file)
    }
    if (event.kind === "bytes") {
      sizeBytes += event.bytes.byteLength
      if (sizeBytes > fileBytesMax) throw fileTooLargeProblem(c, fileBytesMax)
      const moreBytes = Math.max(0, (announced ?? 0) - body.receivedBytes() - FOLLOWING_BYTES_MAX)
      if (sink && !(await sink.write(event.bytes, moreBytes))) throw storageFullProblem()
    }
  }
  return { fields, file }
}

/**
 * Maximum number of bytes (fields, boundaries and headers) that may follow the file in a multipart
 * body, if R2 stores the file in several parts. The sink buffers an R2 part that may be the last
 * part.
 */
const FOLLOWING_BYTES_MAX = 256 * 1024

const TWO_FILES = "expected one file, not two; send one request for each file"

function addField(fields: Map<string, string>, { name, value }: { name: string; value: string }) {
  if (fields.has(name)) throw invalidFieldProblem(name, "the field occurs twice; send it once")
  fields.set(name, value)
}

function openMultipartBody(c: AppContext, fileBytesMax: number): BodyReader {
  const type = c.req.header("content-type") ?? ""
  if (!/^multipart\/form-data\b/i.test(type)) {
    const message = `Send the body as application/json, or a file as multipart/form-data: ${formatCurlUpload(c)}`
    throw new Problem("unsupported_media_type", message)
  }
  if (!/;\s*boundary=\s*"?[^\s";]/i.test(type)) {
    const message = `expected multipart/form-data with a boundary; let your client set this header, as in ${formatCurlUpload(c)}`
    throw invalidFieldProblem("content-type", message)
  }
  requireUncompressed(c)
  const announced = readAnnouncedBytes(c) ?? 0
  const planBytesMax = fileBytesMax + MULTIPART_OVERHEAD_BYTES_MAX
  if (announced > planBytesMax) throw fileTooLargeProblem(c, fileBytesMax)
  const bodyBytesMax = readBodyBytesMax(c)
  if (announced > bodyBytesMax) throw bodyTooLargeProblem(bodyBytesMax)
  const body = createBodyReader(c, {
    bytesMax: Math.min(planBytesMax, bodyBytesMax),
    tooLarge: () => {
      return planBytesMax <= bodyBytesMax
        ? fileTooLargeProblem(c, fileBytesMax)
        : bodyTooLargeProblem(bodyBytesMax)
    },
  })
  if (!body) throw invalidFieldProblem("body", "the multipart body is empty")
  return body
}

/** Returns a curl command, in backticks, that uploads a file to the path of the request. */
export function formatCurlUpload(c: AppContext): string {
  return `\`curl -H "X-API-KEY: $KEY" -F file=@film.mp4 ${getPublicOrigin(c)}${c.req.path}\``
}

function readAnnouncedBytes(c: AppContext): number | null {
  const announced = c.req.header("content-length")
  return announced === undefined ? null : Number(announced)
}

/** Returns the 413 error for a file that is larger than the plan or the upload link allows. */
export function fileTooLargeProblem(c: AppContext, bytesMax: number): Problem {
  const message = c.get("uploadLink")
    ? `The link takes a file of at most ${bytesMax} bytes.`
    : `The plan limits a file to ${bytesMax} bytes: send a smaller file, or ${PLAN_LIMIT_REMEDY}.`
  return new Problem("payload_too_large", message)
}

/**
 * Returns the maximum size in bytes of an upload's body in this deployment; the limit applies to
 * every plan.
 */
function readBodyBytesMax(c: AppContext): number {
  return getSettings(c.env).UPLOAD_BODY_BYTES_MAX ?? Number.POSITIVE_INFINITY
}

function bodyTooLargeProblem(bytesMax: number): Problem {
  return new Problem(
    "payload_too_large",
    `The body of an upload may have ${bytesMax} bytes here. Send a larger file in pieces by a resumable upload (POST /v1/uploads, the tus protocol), or import it by its URL (https:// or s3://), as the \`file_url\` of POST /v1/files or as an input, or ask the operator of this service for a plan of Cloudflare that takes more; \`upload_body_bytes\` of GET /v1/account has the limit.`,
  )
}

/**
 * Returns the media type for the extension of a file name. For an unknown extension, returns
 * `announced` if it is an audio, video or image type.
 */
export function detectContentType(name: string, announced = ""): string {
  const medium = /^(?:video|audio|image)\/[\w.+-]+$/.exec(announced)?.[0]
  return mediaTypes.getType(name) ?? medium ?? "application/octet-stream"
}
