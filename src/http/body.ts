import { settingsOf } from "../env.ts"
import { UPLOAD_MS_MAX } from "../pipeline/uploads/abandon.ts"
import { Problem, unprocessable } from "./problem.ts"
import type { AppContext } from "./request.ts"

/** Reads a body piece by piece, into rooms that the caller gives; null at its end. */
export type BodyReader = {
  read(room: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | null>
}

export type BodyLimits = {
  bytesMax: number
  /** What is thrown where more than `bytesMax` come, whatever was announced. */
  tooLarge: () => Problem
}

/**
 * Opens the body of a request; null where it has none. A body that stalls, or comes slower than
 * `UPLOAD_BYTES_PER_SECOND_MIN` over `UPLOAD_IDLE_SECONDS`, is a 408. Only the time that is spent
 * waiting for the caller counts.
 */
export function openBody(c: AppContext, { bytesMax, tooLarge }: BodyLimits): BodyReader | null {
  const body: ReadableStream<Uint8Array> | null = c.req.raw.body
  if (!body) return null
  const reader = body.getReader({ mode: "byob" })
  const { UPLOAD_IDLE_SECONDS: seconds, UPLOAD_BYTES_PER_SECOND_MIN: rate } = settingsOf(c.env)
  const startedAt = Date.now()
  let receivedBytes = 0
  return {
    async read(room) {
      const leastBytes = Math.min(room.byteLength, seconds * rate)
      const reading = reader.readAtLeast(leastBytes, room).catch(hungUp)
      const isLate = Date.now() - startedAt > UPLOAD_MS_MAX
      const received = isLate ? null : await inTime(reading, seconds * 1000)
      if (received === null) throw stop(reader, reading, stalled(seconds, rate))
      const bytes = received.value
      if (received.done || !bytes) return null
      receivedBytes += bytes.byteLength
      if (receivedBytes > bytesMax) throw stop(reader, reading, tooLarge())
      return bytes
    },
  }
}

const READ_BYTES = 64 * 1024

/** Reads all of a body, as `openBody` does; an announced length that is too large is refused at once. */
export async function readWhole(c: AppContext, limits: BodyLimits): Promise<Blob> {
  const announced = Number(c.req.header("content-length") ?? 0)
  if (announced > limits.bytesMax) throw limits.tooLarge()
  const body = openBody(c, limits)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (;;) {
    const chunk = await body?.read(new Uint8Array(READ_BYTES))
    if (!chunk) return new Blob(chunks)
    chunks.push(chunk)
  }
}

async function inTime<Value>(waited: Promise<Value>, ms: number): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  try {
    return await Promise.race([waited, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Gives a body up, whose caller may go on sending, and says why. */
function stop(
  reader: ReadableStreamBYOBReader,
  reading: Promise<unknown>,
  problem: Problem,
): Problem {
  reading.catch(() => undefined)
  reader.cancel().catch(() => undefined)
  return problem
}

function stalled(seconds: number, rate: number): Problem {
  const message = `The body came to a stop: send at least ${rate} bytes a second, and pause for less than ${seconds} seconds.`
  return new Problem("request_timeout", message, { headers: { connection: "close" } })
}

/** The caller closed the connection, or its sending half. */
function hungUp(cause: unknown): never {
  throw unprocessable("body", "it ends before its end was sent", cause)
}
