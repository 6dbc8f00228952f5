import { make } from "multipasta"
import type { MultipartError, PartInfo } from "multipasta"
import type { BodyReader } from "./body.ts"
import { Problem, unprocessable } from "./problem.ts"

const READ_BYTES = 256 * 1024
const FIELD_BYTES_MAX = 64 * 1024
const PARTS_MAX = 20
/** Longer than any boundary and its closing dashes. */
const DASHES_HELD_MAX = 128

/**
 * What a multipart body says, in its order: a whole field, or a file's beginning and then its
 * bytes, which are to be used before the next event is asked for.
 */
export type PartEvent =
  | { kind: "field"; name: string; value: string }
  | { kind: "file"; name: string; fileName: string; contentType: string }
  | { kind: "bytes"; bytes: Uint8Array }

type Received = PartEvent | { kind: "done" } | { kind: "error"; error: PartError }

/** What is wrong with a body; a text in the place of a file is what `-F file=path` sends. */
type PartError = MultipartError | { _tag: "TextAsFile" }

/** Reads a multipart body as it comes; throws the Problem where it is none, or ends early. */
export async function* readParts(
  contentType: string,
  body: BodyReader,
): AsyncGenerator<PartEvent, void> {
  const received: Received[] = []
  const parser = make({
    headers: { "content-type": contentType },
    maxParts: PARTS_MAX,
    // Fields come as files do, so that none of their bytes are kept in memory that is used again.
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => receivePart(info, received),
    onError: (error) => received.push({ kind: "error", error }),
    onDone: () => received.push({ kind: "done" }),
  })
  let hasParts = false
  for await (const chunk of wholeDashes(body)) {
    parse(() => parser.write(chunk))
    for (const event of received.splice(0)) {
      hasParts = true
      if (event.kind === "done") return
      if (event.kind === "error") throw refuse(event.error)
      yield event
    }
  }
  parse(() => parser.end())
  for (const event of received) {
    if (event.kind === "done") return
    if (event.kind === "error" && !hasParts) throw withoutParts()
    if (event.kind === "error") throw refuse(event.error)
    yield event
  }
  throw endsEarly()
}

/** The parser decodes a `filename*` by itself, and throws where it is not encoded as it should be. */
function parse(step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw unprocessable("file", "its filename* is not percent-encoded UTF-8", error)
  }
}

function receivePart(info: PartInfo, received: Received[]): (bytes: Uint8Array | null) => void {
  const header = info.headers["content-disposition"]
  const { name, fileName } = readPartNames(typeof header === "string" ? header : "")
  if (fileName === undefined && name === "file" && !("content-type" in info.headers)) {
    received.push({ kind: "error", error: { _tag: "TextAsFile" } })
    return () => undefined
  }
  if (fileName !== undefined || name === "file") {
    received.push({ kind: "file", name, fileName: fileName ?? "", contentType: info.contentType })
    return (bytes) => {
      if (bytes) received.push({ kind: "bytes", bytes })
    }
  }
  const decoder = new TextDecoder()
  let value = ""
  return (bytes) => {
    value += bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    if (value.length > FIELD_BYTES_MAX) received.push({ kind: "error", error: TOO_LONG })
    else if (!bytes) received.push({ kind: "field", name, value })
  }
}

const TOO_LONG: MultipartError = { _tag: "ReachedLimit", limit: "MaxFieldSize" }

/**
 * The body in large chunks. A chunk never ends between the dashes that close the last boundary,
 * which the parser does not survive: trailing dashes wait for the next chunk. The parser may hold
 * the end of one chunk until it is given the next, so two rooms take turns.
 */
async function* wholeDashes(body: BodyReader): AsyncGenerator<Uint8Array> {
  const rooms = [new Uint8Array(READ_BYTES), new Uint8Array(READ_BYTES)]
  let held = new Uint8Array(0)
  for (;;) {
    const room = rooms.shift() ?? new Uint8Array(READ_BYTES)
    const value = await body.read(room)
    if (!value) break
    const chunk = held.byteLength > 0 ? join(held, value) : value
    const end = chunk.byteLength - trailingDashes(chunk)
    held = chunk.slice(end)
    if (end > 0) yield chunk.subarray(0, end)
    rooms.push(new Uint8Array(value.buffer))
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

function refuse(error: PartError): Problem {
  if (error._tag === "EndNotReached") return endsEarly()
  if (error._tag === "TextAsFile") {
    const message =
      "it came as a text and has no file name, so that its bytes are no file's: curl needs an `@` before the path, as in `-F file=@film.mp4`"
    return unprocessable("file", message)
  }
  if (error._tag === "BadHeaders") {
    const message =
      "the headers of its part cannot be read: expected a Content-Disposition with a name"
    return unprocessable("file", message)
  }
  if (error._tag === "ReachedLimit") {
    return new Problem("payload_too_large", `The multipart body is too large: ${error.limit}.`)
  }
  return unprocessable("body", "the multipart body cannot be parsed")
}

function withoutParts(): Problem {
  const message =
    "no part of it begins with the boundary that its Content-Type names: leave that header to your client, which makes both"
  return unprocessable("body", message)
}

function endsEarly(): Problem {
  return unprocessable("body", "it ends before its closing boundary")
}

/** What the header of a multipart part says: the field's name, and a file's name where it has one. */
export type PartNames = { name: string; fileName: string | undefined }

/**
 * Reads the Content-Disposition of a part as browsers and curl write it: UTF-8 in quotes, a quote
 * in them as `%22` or `\"`, or `filename*`. The multipart parser itself knows Latin-1 names only.
 */
export function readPartNames(header: string): PartNames {
  const plain = parameter(header, "filename")
  return {
    name: parameter(header, "name") ?? "",
    fileName: extendedFileName(header) ?? plain,
  }
}

function parameter(header: string, name: string): string | undefined {
  const quoted = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(header)?.[1]
  if (quoted !== undefined) return unescape(quoted)
  return new RegExp(`;\\s*${name}=([^;"\\s]+)`, "i").exec(header)?.[1]
}

function unescape(quoted: string): string {
  return quoted
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22/g, '"')
    .replace(/%0[AD]/gi, "")
}

function extendedFileName(header: string): string | undefined {
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
