import { toHex } from "../contract/hex.ts"
import { openDatabase } from "../storage/database.ts"
import { finishObject, openPartWriter, writeBytes } from "../storage/part-writer.ts"
import type { PartWriter } from "../storage/part-writer.ts"
import type { Upload } from "../storage/schema.ts"
import type { AppContext } from "./context.ts"
import { contentTypeOf, fileNameOf } from "./file-name.ts"
import { readIdempotencyKey } from "./idempotency.ts"
import { readParts } from "./multipart-parts.ts"
import type { PartEvent } from "./multipart-parts.ts"
import { Problem, unprocessable } from "./problem.ts"

/** What boundaries, headers and fields may add to the file's own bytes. */
const ENVELOPE_BYTES_MAX = 1024 * 1024

export type ReceivedFile = {
  upload: Upload
  name: string
  contentType: string
  sizeBytes: number
  /** SHA-256 of the bytes, hexadecimal, where the request may be sent again. */
  digest?: string
}

export type Received = { fields: Map<string, string>; file: ReceivedFile | null }

/** A file on its way from the request into R2. */
type Incoming = {
  file: ReceivedFile
  writer: PartWriter
  hash: ReturnType<typeof openHash> | null
}

/**
 * Receives a multipart body whose one file is the field `file`: its bytes go to R2 as they come.
 * Where it throws, whatever was stored is noted in `onStarted`'s upload and is to be abandoned.
 */
export async function receiveMultipart(
  c: AppContext,
  onStarted: (writer: PartWriter) => void,
): Promise<Received> {
  const bytesMax = c.get("limits").fileBytesMax
  const fields = new Map<string, string>()
  let incoming: Incoming | null = null
  for await (const event of readParts(c.req.header("content-type") ?? "", bodyOf(c, bytesMax))) {
    if (event.kind === "field") addField(fields, event)
    if (event.kind === "file") {
      if (incoming) throw unprocessable("file", "expected one file, and there are two")
      incoming = begin(c, event, bytesMax)
      onStarted(incoming.writer)
    }
    if (event.kind === "bytes" && incoming) await add(incoming, event.bytes, bytesMax)
  }
  return { fields, file: incoming && (await finish(incoming)) }
}

function addField(fields: Map<string, string>, { name, value }: { name: string; value: string }) {
  if (fields.has(name)) throw unprocessable(name, "it is given twice")
  fields.set(name, value)
}

function begin(
  c: AppContext,
  { name: field, fileName, contentType: named }: Extract<PartEvent, { kind: "file" }>,
  bytesMax: number,
): Incoming {
  if (field !== "file") throw unprocessable(field || "body", "there is no such file field")
  const writer = openPartWriter(c.env.MEDIA, openDatabase(c.env.DB), {
    accountId: c.get("account").id,
    bytesMax: Math.min(bytesMax, announcedBytes(c) ?? bytesMax),
  })
  const name = fileNameOf(fileName)
  const file = {
    upload: writer.upload,
    name,
    contentType: contentTypeOf(name, named),
    sizeBytes: 0,
  }
  return { file, writer, hash: readIdempotencyKey(c) === null ? null : openHash() }
}

async function add({ file, writer, hash }: Incoming, bytes: Uint8Array, bytesMax: number) {
  file.sizeBytes += bytes.byteLength
  if (file.sizeBytes > bytesMax) throw tooLarge(bytesMax)
  await hash?.writer.write(bytes)
  await writeBytes(writer, bytes)
}

async function finish({ file, writer, hash }: Incoming): Promise<ReceivedFile> {
  await finishObject(writer, { contentType: file.contentType })
  if (!hash) return file
  await hash.writer.close()
  return { ...file, digest: toHex(await hash.digest) }
}

function openHash() {
  const stream = new crypto.DigestStream("SHA-256")
  // An upload that fails leaves it unfinished, and nobody asks for it then.
  stream.digest.catch(() => undefined)
  return { writer: stream.getWriter(), digest: stream.digest }
}

function bodyOf(c: AppContext, bytesMax: number): ReadableStream<Uint8Array> {
  const type = c.req.header("content-type") ?? ""
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new Problem("unsupported_media_type", "Send the body as multipart/form-data.")
  }
  if (!/;\s*boundary=\s*"?[^\s";]/i.test(type)) {
    throw unprocessable("content-type", "expected multipart/form-data with a boundary")
  }
  if ((announcedBytes(c) ?? 0) > bytesMax + ENVELOPE_BYTES_MAX) throw tooLarge(bytesMax)
  const body: ReadableStream<Uint8Array> | null = c.req.raw.body
  if (!body) throw unprocessable("body", "expected a multipart body, and it is empty")
  return body
}

function announcedBytes(c: AppContext): number | null {
  const announced = c.req.header("content-length")
  return announced === undefined ? null : Number(announced)
}

function tooLarge(bytesMax: number): Problem {
  return new Problem("payload_too_large", `A file of this account may have ${bytesMax} bytes.`)
}
