import { readTextUpTo } from "../bounded-text.ts"
import { spaceOf } from "../storage/state-disk.ts"
import { say } from "./io-context.ts"
import type { IoContext } from "./io-context.ts"

/** A body whose number of bytes R2 knows. */
export type KnownBody = Uint8Array | ReadableStream<Uint8Array>

/** Request Timeout, the 4xx that runners take as a request that did not arrive whole, and send again. */
const WRONG_LENGTH = 408

/**
 * Stores the body of a request by one call of R2, then answers by `note`. Nothing is noted where the length
 * is not announced (411), where the body has fewer or more bytes (408), and where the disk has no
 * room (507).
 */
export async function storeBody<Stored>(
  c: IoContext,
  store: (body: KnownBody) => Promise<Stored>,
  note: (stored: Stored, sizeBytes: number) => Response | Promise<Response>,
): Promise<Response> {
  const header = c.req.header("content-length") ?? ""
  if (!/^\d+$/.test(header)) return say(411, "content-length")
  const sizeBytes = Number(header)
  const space = await spaceOf(c.env)(sizeBytes)
  if (!space) return say(507, "the disk is full")
  try {
    const stored = await storeExactly(c.req.raw.body, sizeBytes, store)
    return stored ? await note(stored.value, sizeBytes) : say(WRONG_LENGTH, "content-length")
  } finally {
    space.release()
  }
}

/**
 * Stores a body of exactly this size; null where it has another. The stream that the outbound handler of a
 * container gets does not tell its length, whatever its header says, and R2 refuses such a stream.
 */
async function storeExactly<Stored>(
  body: ReadableStream<Uint8Array> | null,
  sizeBytes: number,
  store: (body: KnownBody) => Promise<Stored>,
): Promise<{ value: Stored } | null> {
  if (!body || sizeBytes === 0) {
    const isEmpty = (await readTextUpTo(body, 0)) !== null
    return isEmpty && sizeBytes === 0 ? { value: await store(new Uint8Array()) } : null
  }
  const { readable, writable } = new FixedLengthStream(sizeBytes)
  const stop = new AbortController()
  const piping = body.pipeTo(writable, stop)
  const storing = store(readable)
  try {
    const [value] = await Promise.all([storing, piping])
    return { value }
  } catch (error) {
    // R2 may refuse a body before it reads the first byte, and a pipe that nobody reads never ends.
    stop.abort(error)
    const ends = await Promise.allSettled([piping, storing])
    if (ends.some(isWrongLength)) return null
    throw error
  }
}

/** Whether the stream of a known length says that its bytes were fewer or more. */
function isWrongLength(end: PromiseSettledResult<unknown>): boolean {
  return end.status === "rejected" && /FixedLengthStream/.test(String(end.reason))
}
