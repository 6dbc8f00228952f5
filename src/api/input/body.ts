import { getSettings } from "../../bindings/env.ts"
import { UPLOAD_MS_MAX } from "../../objects/abandon-upload.ts"
import { Problem, invalidFieldProblem } from "../output/problem.ts"
import type { AppContext } from "../context.ts"

/**
 * Reader of a request body that fills the caller's buffer in chunks; `read` returns null at the
 * end.
 */
export type BodyReader = {
  read(room: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | null>
  /** Returns the number of bytes read so far. */
  receivedBytes(): number
}

export type BodyLimits = {
  bytesMax: number
  /**
   * Minimum number of bytes that one read returns before the end of the body. The default is the
   * number that the client must send within `UPLOAD_IDLE_SECONDS`. If the connection breaks during
   * a read, the bytes of the read are lost.
   */
  leastBytes?: number
  /**
   * Creates the error for a body longer than `bytesMax`, regardless of the Content-Length header.
   */
  tooLarge: () => Problem
}

/**
 * Opens the body of a request for reading; returns null if the request has no body. Reads throw 408
 * if the client sends fewer bytes than `UPLOAD_BYTES_PER_SECOND_MIN` demands over
 * `UPLOAD_IDLE_SECONDS`, or takes longer than UPLOAD_MS_MAX. The rate counts only time in which the
 * service waits for the client.
 */
export function createBodyReader(c: AppContext, limits: BodyLimits): BodyReader | null {
  const { bytesMax, tooLarge } = limits
  const body: ReadableStream<Uint8Array> | null = c.req.raw.body
  if (!body) return null
  const reader = body.getReader({ mode: "byob" })
  const { UPLOAD_IDLE_SECONDS: seconds, UPLOAD_BYTES_PER_SECOND_MIN: rate } = getSettings(c.env)
  const startedAt = Date.now()
  const windowBytes = seconds * rate
  let receivedBytes = 0
  /** Time spent waiting for the client, and bytes received, since the rate was last sufficient. */
  let waited = { ms: 0, bytes: 0 }
  return {
    receivedBytes: () => receivedBytes,
    async read(room) {
      const leastBytes = Math.min(room.byteLength, limits.leastBytes ?? windowBytes)
      const reading = reader.readAtLeast(leastBytes, room).catch(throwClosed)
      const readAt = Date.now()
      const isLate = readAt - startedAt > UPLOAD_MS_MAX
      const received = isLate ? null : await raceTimeout(reading, seconds * 1000 - waited.ms)
      if (received === null) throw cancelBody(reader, reading, stalledProblem(seconds, rate))
      const bytes = received.value
      if (received.done || !bytes) return null
      receivedBytes += bytes.byteLength
      const ms = waited.ms + Date.now() - readAt
      const newBytes = waited.bytes + bytes.byteLength
      const isFast = newBytes >= Math.min(windowBytes, room.byteLength)
      waited = isFast ? { ms: 0, bytes: 0 } : { ms, bytes: newBytes }
      if (receivedBytes > bytesMax) throw cancelBody(reader, reading, tooLarge())
      return bytes
    },
  }
}

const READ_BYTES = 64 * 1024

/**
 * Reads a whole request body into memory. Throws at once if the Content-Length exceeds the limit.
 */
export async function readBodyAsBlob(c: AppContext, limits: BodyLimits): Promise<Blob> {
  const announced = Number(c.req.header("content-length") ?? 0)
  if (announced > limits.bytesMax) throw limits.tooLarge()
  const body = createBodyReader(c, limits)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (;;) {
    const chunk = await body?.read(new Uint8Array(READ_BYTES))
    if (!chunk) return new Blob(chunks)
    chunks.push(chunk)
  }
}

async function raceTimeout<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Cancels a request body that the client may still be sending, and returns the error response
 * `problem`.
 */
function cancelBody(
  reader: ReadableStreamBYOBReader,
  reading: Promise<unknown>,
  problem: Problem,
): Problem {
  reading.catch(() => undefined)
  reader.cancel().catch(() => undefined)
  return problem
}

function stalledProblem(seconds: number, rate: number): Problem {
  const message = `The body stalled: send at least ${rate} bytes a second, with pauses of less than ${seconds} seconds.`
  return new Problem("request_timeout", message, { headers: { connection: "close" } })
}

/** Throws 422 for a connection that the client closed before the end of the request body. */
function throwClosed(cause: unknown): never {
  throw invalidFieldProblem("body", "the connection closed before the end of the body", cause)
}
