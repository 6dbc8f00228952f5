import { decodeField, make } from "multipasta"
import type { MultipartError, PartInfo } from "multipasta"
import { openDatabase } from "../storage/database.ts"
import { finishObject, openPartWriter, writeBytes } from "../storage/part-writer.ts"
import type { PartWriter } from "../storage/part-writer.ts"
import type { Upload } from "../storage/schema.ts"
import type { AppContext } from "./context.ts"
import { readPartNames } from "./disposition.ts"
import type { PartNames } from "./disposition.ts"
import { contentTypeOf, fileNameOf } from "./file-name.ts"
import { readIdempotencyKey, toHex } from "./idempotency.ts"
import { Problem, unprocessable } from "./problem.ts"

const READ_BYTES = 256 * 1024
const FIELD_BYTES_MAX = 64 * 1024
const PARTS_MAX = 20
/** What boundaries, headers and fields may add to the file's own bytes. */
const ENVELOPE_BYTES_MAX = 1024 * 1024
/** Longer than any boundary and its closing dashes. */
const DASHES_HELD_MAX = 128

export type ReceivedFile = {
  upload: Upload
  name: string
  contentType: string
  sizeBytes: number
  /** SHA-256 of the bytes, hexadecimal, where the request may be sent again. */
  digest?: string
}

export type Received = { fields: Map<string, string>; file: ReceivedFile | null }

type Event =
  | { kind: "field"; name: string; value: string }
  | { kind: "file"; names: PartNames }
  | { kind: "bytes"; bytes: Uint8Array }
  | { kind: "end of file" | "end of body" }
  | { kind: "error"; error: MultipartError }

/**
 * Receives a multipart body whose one file is the field `file`: its bytes go to R2 as they come.
 * Where it throws, whatever was stored is noted in `onStarted`'s upload and is to be abandoned.
 */
export async function receiveMultipart(
  c: AppContext,
  onStarted: (writer: PartWriter) => void,
): Promise<Received> {
  const bytesMax = c.get("limits").fileBytesMax
  const body = bodyOf(c, bytesMax)
  const events: Event[] = []
  const parser = parse(c.req.header("content-type") ?? "", events)
  const received: Received = { fields: new Map(), file: null }
  const hash = readIdempotencyKey(c) === null ? null : openHash()
  const state: Receiving = { writer: null, hash, sizeBytes: 0, done: false }
  const taking = { received, state, bytesMax, onStarted }
  for await (const chunk of wholeDashes(body)) {
    parser.write(chunk)
    for (const event of events.splice(0)) await take(c, event, taking)
  }
  parser.end()
  for (const event of events.splice(0)) if (!state.done) await take(c, event, taking)
  if (!state.done) throw endsEarly()
  if (received.file && state.writer) {
    const { contentType } = received.file
    received.file.sizeBytes = await finishObject(state.writer, { contentType })
    if (state.hash) {
      await state.hash.writer.close()
      received.file.digest = toHex(await state.hash.digest)
    }
  }
  return received
}

type Taking = {
  received: Received
  state: Receiving
  bytesMax: number
  onStarted: (writer: PartWriter) => void
}

type Receiving = {
  writer: PartWriter | null
  hash: ReturnType<typeof openHash> | null
  sizeBytes: number
  done: boolean
}

function openHash() {
  const stream = new crypto.DigestStream("SHA-256")
  // An upload that fails leaves it unfinished, and nobody asks for it then.
  stream.digest.catch(() => undefined)
  return { writer: stream.getWriter(), digest: stream.digest }
}

async function take(c: AppContext, event: Event, taking: Taking): Promise<void> {
  const { received, state, bytesMax } = taking
  if (event.kind === "error") throw refuse(event.error)
  if (event.kind === "end of body") state.done = true
  if (event.kind === "field") {
    if (received.fields.has(event.name)) throw unprocessable(event.name, "it is given twice")
    received.fields.set(event.name, event.value)
  }
  if (event.kind === "file") {
    const { name: field, fileName } = event.names
    if (field !== "file") throw unprocessable(field || "body", "there is no such file field")
    if (state.writer) throw unprocessable("file", "expected one file, and there are two")
    const database = openDatabase(c.env.DB)
    state.writer = openPartWriter(c.env.MEDIA, database, c.get("account").id)
    taking.onStarted(state.writer)
    const name = fileNameOf(fileName ?? "")
    const { upload } = state.writer
    received.file = { upload, name, contentType: contentTypeOf(name), sizeBytes: 0 }
  }
  if (event.kind === "bytes" && state.writer) {
    state.sizeBytes += event.bytes.byteLength
    if (state.sizeBytes > bytesMax) throw tooLarge(bytesMax)
    await state.hash?.writer.write(event.bytes)
    await writeBytes(state.writer, event.bytes)
  }
}

function parse(contentType: string, events: Event[]) {
  return make({
    headers: { "content-type": contentType },
    maxParts: PARTS_MAX,
    maxFieldSize: FIELD_BYTES_MAX,
    isFile: (info) => namesOf(info).fileName !== undefined || namesOf(info).name === "file",
    onField: (info, value) =>
      events.push({ kind: "field", name: namesOf(info).name, value: decodeField(info, value) }),
    onFile(info) {
      events.push({ kind: "file", names: namesOf(info) })
      return (bytes) => events.push(bytes ? { kind: "bytes", bytes } : { kind: "end of file" })
    },
    onError: (error) => events.push({ kind: "error", error }),
    onDone: () => events.push({ kind: "end of body" }),
  })
}

function namesOf(info: PartInfo): PartNames {
  const header = info.headers["content-disposition"]
  return readPartNames(typeof header === "string" ? header : "")
}

function bodyOf(c: AppContext, bytesMax: number): ReadableStream<Uint8Array> {
  const type = c.req.header("content-type") ?? ""
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw new Problem("unsupported_media_type", "Send the body as multipart/form-data.")
  }
  if (!/;\s*boundary=\s*"?[^\s";]/i.test(type)) {
    throw unprocessable("content-type", "expected multipart/form-data with a boundary")
  }
  const announced = Number(c.req.header("content-length") ?? 0)
  if (announced > bytesMax + ENVELOPE_BYTES_MAX) throw tooLarge(bytesMax)
  const body: ReadableStream<Uint8Array> | null = c.req.raw.body
  if (!body) throw unprocessable("body", "expected a multipart body, and it is empty")
  return body
}

/**
 * The body in large chunks. A chunk never ends between the dashes that close the last boundary,
 * which the parser does not survive: trailing dashes wait for the next chunk.
 */
async function* wholeDashes(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" })
  let held = new Uint8Array(0)
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(READ_BYTES))
    if (done || !value) break
    const chunk = held.byteLength > 0 ? join(held, value) : value
    const end = chunk.byteLength - trailingDashes(chunk)
    held = chunk.slice(end)
    if (end > 0) yield chunk.subarray(0, end)
  }
  if (held.byteLength > 0) yield held
}

function trailingDashes(chunk: Uint8Array): number {
  let count = 0
  while (count < DASHES_HELD_MAX && chunk.at(-1 - count) === 45) count += 1
  return count
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(one.byteLength + other.byteLength)
  joined.set(one)
  joined.set(other, one.byteLength)
  return joined
}

function refuse(error: MultipartError): Problem {
  if (error._tag === "EndNotReached") return endsEarly()
  if (error._tag === "BadHeaders") {
    const message = "its name, or another header of its part, holds a control character"
    return unprocessable("file", message)
  }
  if (error._tag === "ReachedLimit") {
    return new Problem("payload_too_large", `The multipart body is too large: ${error.limit}.`)
  }
  return unprocessable("body", "the multipart body cannot be parsed")
}

function endsEarly(): Problem {
  return unprocessable("body", "it ends before its closing boundary")
}

function tooLarge(bytesMax: number): Problem {
  return new Problem("payload_too_large", `A file of this account may have ${bytesMax} bytes.`)
}
