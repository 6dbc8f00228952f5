import { make } from "multipasta"
import type { MultipartError, PartInfo } from "multipasta"
import type { BodyReader } from "./body.ts"
import { Problem, invalidFieldProblem } from "../output/problem.ts"

const READ_BYTES = 256 * 1024
const FIELD_BYTES_MAX = 64 * 1024
const PARTS_MAX = 20
/**
 * Maximum number of trailing dashes that are moved from a chunk to the next chunk. The dashes may
 * begin a boundary, and no multipart boundary is as long.
 */
const TRAILING_DASHES_MAX = 128

/**
 * Event of the multipart parser, in the order of the body: a whole text field, the start of a file,
 * or a chunk of the file. `bytes` are valid only until the next event is requested.
 */
export type MultipartParserEvent =
  | { kind: "field"; name: string; value: string }
  | { kind: "file"; name: string; fileName: string; contentType: string }
  | { kind: "bytes"; bytes: Uint8Array }

type ParserEvent = MultipartParserEvent | { kind: "done" } | { kind: "error"; error: PartError }

/**
 * Error of a multipart body. `TextAsFile` means a text field in place of the file, as curl sends
 * for `-F file=path`.
 */
type PartError = MultipartError | { _tag: "TextAsFile" }

/** Parses a multipart body as a stream; throws a Problem if the body is malformed or truncated. */
export async function* parseMultipartParts(
  contentType: string,
  body: BodyReader,
): AsyncGenerator<MultipartParserEvent, void> {
  const received: ParserEvent[] = []
  const parser = make({
    headers: { "content-type": contentType },
    maxParts: PARTS_MAX,
    // Treat text fields as files: the parser then keeps no bytes of the read buffer, which is
    // reused.
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => receivePart(info, received),
    onError: (error) => received.push({ kind: "error", error }),
    onDone: () => received.push({ kind: "done" }),
  })
  let hasParts = false
  for await (const chunk of holdBackTrailingDashes(body)) {
    parse(() => parser.write(chunk))
    for (const event of received.splice(0)) {
      hasParts = true
      if (event.kind === "done") return
      if (event.kind === "error") throw partProblem(event.error)
      yield event
    }
  }
  parse(() => parser.end())
  for (const event of received) {
    if (event.kind === "done") return
    if (event.kind === "error" && !hasParts) throw noPartsProblem()
    if (event.kind === "error") throw partProblem(event.error)
    yield event
  }
  throw truncatedBodyProblem()
}

/** Calls the multipart parser; throws 422 if a `filename*` cannot be decoded. */
function parse(step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw invalidFieldProblem(
      "file",
      "the filename* of the part is not percent-encoded UTF-8",
      error,
    )
  }
}

function receivePart(info: PartInfo, received: ParserEvent[]): (bytes: Uint8Array | null) => void {
  const header = info.headers["content-disposition"]
  const { name, fileName } = parseContentDisposition(typeof header === "string" ? header : "")
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
    if (value.length > FIELD_BYTES_MAX) received.push({ kind: "error", error: FIELD_TOO_LONG })
    else if (!bytes) received.push({ kind: "field", name, value })
  }
}

const FIELD_TOO_LONG: MultipartError = { _tag: "ReachedLimit", limit: "MaxFieldSize" }

/**
 * Yields a multipart body in large chunks. The parser fails if a chunk ends between the dashes of
 * the closing boundary, so trailing dashes wait for the next chunk. The parser may refer to a chunk
 * until the next write, so two buffers alternate.
 */
async function* holdBackTrailingDashes(body: BodyReader): AsyncGenerator<Uint8Array> {
  const rooms = [new Uint8Array(READ_BYTES), new Uint8Array(READ_BYTES)]
  let dashes = new Uint8Array(0)
  for (;;) {
    const room = rooms.shift() ?? new Uint8Array(READ_BYTES)
    const value = await body.read(room)
    if (!value) break
    const chunk = dashes.byteLength > 0 ? join(dashes, value) : value
    const end = chunk.byteLength - countTrailingDashes(chunk)
    dashes = chunk.slice(end)
    if (end > 0) yield chunk.subarray(0, end)
    rooms.push(new Uint8Array(value.buffer))
  }
  if (dashes.byteLength > 0) yield dashes
}

function countTrailingDashes(chunk: Uint8Array): number {
  let count = 0
  while (count < TRAILING_DASHES_MAX && chunk.at(-1 - count) === 45) count += 1
  return count
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(one.byteLength + other.byteLength)
  joined.set(one)
  joined.set(other, one.byteLength)
  return joined
}

function partProblem(error: PartError): Problem {
  if (error._tag === "EndNotReached") return truncatedBodyProblem()
  if (error._tag === "TextAsFile") {
    const message =
      "expected a file, not a text: with curl, write `@` before the path, as in `-F file=@film.mp4`"
    return invalidFieldProblem("file", message)
  }
  if (error._tag === "BadHeaders") {
    const message =
      "the headers of the part are malformed; expected a Content-Disposition with a name"
    return invalidFieldProblem("file", message)
  }
  if (error._tag === "ReachedLimit") {
    const limit = LIMIT_MESSAGES.get(error.limit) ?? error.limit
    return new Problem("payload_too_large", `The multipart body is too large: ${limit}.`)
  }
  return invalidFieldProblem("body", "the multipart body is malformed")
}

const LIMIT_MESSAGES = new Map<string, string>([
  ["MaxFieldSize", `a field that is not a file may have ${FIELD_BYTES_MAX} bytes`],
  ["MaxParts", `it may have ${PARTS_MAX} parts`],
])

function noPartsProblem(): Problem {
  const message =
    "the body does not contain the boundary of its Content-Type; let your client set this header"
  return invalidFieldProblem("body", message)
}

function truncatedBodyProblem(): Problem {
  return invalidFieldProblem("body", "the body ends before its closing boundary")
}

/**
 * Names in the Content-Disposition header of a multipart part: `name` of the form field, and
 * `fileName` if the part is a file.
 */
export type MultipartPartNames = { name: string; fileName: string | undefined }

/**
 * Reads the names in the Content-Disposition header of a multipart part. Accepts the forms that
 * browsers and curl send: quoted UTF-8 with an inner quote as `%22` or `\"`, or `filename*`. The
 * multipart parser reads only Latin-1.
 */
export function parseContentDisposition(header: string): MultipartPartNames {
  const plain = readParameter(header, "filename")
  return {
    name: readParameter(header, "name") ?? "",
    fileName: readExtendedFileName(header) ?? plain,
  }
}

function readParameter(header: string, name: string): string | undefined {
  const quoted = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(header)?.[1]
  if (quoted !== undefined) return unescapeQuoted(quoted)
  return new RegExp(`;\\s*${name}=([^;"\\s]+)`, "i").exec(header)?.[1]
}

function unescapeQuoted(quoted: string): string {
  return quoted
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22/g, '"')
    .replace(/%0[AD]/gi, "")
}

function readExtendedFileName(header: string): string | undefined {
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
