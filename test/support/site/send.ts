import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { createBrotliCompress, createDeflate, createGzip } from "node:zlib"
import type { ResponseChanges } from "./response-changes.ts"
import { chooseByteRange, makeValidators } from "./range.ts"
import { makeTextResponse } from "./visit.ts"
import type { SiteResponse, SiteRequest } from "./visit.ts"

type Sending = {
  answer: SiteResponse
  manner: ResponseChanges
  seen: SiteRequest
  request: IncomingMessage
  response: ServerResponse
}

const PIECES_A_SECOND = 10

/** Sends a response with the changes that the query parameters request. */
export async function sendSiteResponse(sending: Sending): Promise<void> {
  const { manner, seen, request, response } = sending
  if (sending.answer.raw) {
    request.socket.end(sending.answer.raw)
    return
  }
  if (manner.head !== undefined) await sleep(manner.head)
  const answer = troubledAnswer(sending.answer, manner)
  const { from, to } = writeHead({ ...sending, answer })
  if (request.method === "HEAD") {
    response.end()
    return
  }
  const body = throttled(limited(encoded(answer.read(from, to), manner), manner, seen), manner)
  await pipeline(Readable.from(body), response, { end: false })
  if (manner.stall !== undefined && seen.sent === manner.stall) await once(response, "close")
  else if (manner.cut !== undefined && seen.sent === manner.cut) response.socket?.destroySoon()
  else response.end()
}

/**
 * Returns the response of the route, or an error response if the query parameter `status` is set.
 */
function troubledAnswer(
  answer: SiteResponse,
  { status, "retry-after": retryAfter }: ResponseChanges,
): SiteResponse {
  if (status === undefined) return answer
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  return makeTextResponse("text/plain", `This is a ${status}.\n`, { status, headers })
}

/** Writes the status and headers. Returns the byte range of the body. */
function writeHead({ answer, manner, seen, request, response }: Sending) {
  const isEncoded = manner.encoding !== undefined
  const { etag, modified } = makeValidators(answer, manner, seen)
  const range =
    answer.status === 200 && manner.range !== "no" && !isEncoded
      ? chooseByteRange({ headers: request.headers, size: answer.size, etag, modified })
      : null
  const shift = manner.range === "wrong" && range && range.from > 0 ? 1 : 0
  const from = (range?.from ?? 0) - shift
  const to = (range?.to ?? answer.size) - shift
  response.statusCode = range?.status ?? answer.status
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (manner.type !== "") response.setHeader("content-type", manner.type ?? answer.type)
  if (etag !== null) response.setHeader("etag", etag)
  if (modified !== null) response.setHeader("last-modified", modified)
  if (answer.status === 200 && manner.range === "yes" && !isEncoded) {
    response.setHeader("accept-ranges", "bytes")
  }
  if (range?.status === 206) {
    response.setHeader("content-range", `bytes ${from}-${to - 1}/${answer.size}`)
  }
  if (range?.status === 416) response.setHeader("content-range", `bytes */${answer.size}`)
  if (manner.disposition !== undefined) {
    // Node.js writes a header as Latin-1. The value's UTF-8 bytes therefore become one character
    // each.
    const bytes = Buffer.from(manner.disposition).toString("latin1")
    response.setHeader("content-disposition", bytes)
  }
  if (manner.encoding !== undefined) {
    response.setHeader("content-encoding", manner.encoding.replace("false-", ""))
  }
  writeLength(response, manner, isEncoded || to === Infinity ? null : to - from)
  return { from, to }
}

function writeLength(
  response: ServerResponse,
  { length }: ResponseChanges,
  size: number | null,
): void {
  if (length === undefined && size !== null) response.setHeader("content-length", size)
  if (length === "close") response.useChunkedEncodingByDefault = false
  if (typeof length !== "number") return
  response.setHeader("content-length", length)
  // The `content-length` may be wrong on purpose. Closing the connection therefore ends the body.
  response.setHeader("connection", "close")
}

function encoded(
  chunks: Iterable<Uint8Array>,
  { encoding }: ResponseChanges,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (encoding === "gzip") return Readable.from(chunks).pipe(createGzip())
  if (encoding === "br") return Readable.from(chunks).pipe(createBrotliCompress())
  if (encoding === "deflate") return Readable.from(chunks).pipe(createDeflate())
  return chunks
}

/** Returns the part of the body before `cut` or `stall`. */
async function* limited(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { cut = Infinity, stall = Infinity }: ResponseChanges,
  seen: SiteRequest,
): AsyncGenerator<Uint8Array> {
  const bytesMax = Math.min(cut, stall)
  for await (const chunk of chunks) {
    const fitting = chunk.subarray(0, bytesMax - seen.sent)
    seen.sent += fitting.byteLength
    if (fitting.byteLength > 0) yield fitting
    if (seen.sent >= bytesMax) return
  }
}

async function* throttled(
  chunks: AsyncIterable<Uint8Array>,
  { rate }: ResponseChanges,
): AsyncGenerator<Uint8Array> {
  if (rate === undefined) {
    yield* chunks
    return
  }
  const pieceBytes = Math.max(1, Math.floor(rate / PIECES_A_SECOND))
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
      yield chunk.subarray(at, at + pieceBytes)
      await sleep((pieceBytes / rate) * 1000)
    }
  }
}
