import { readBoundedText } from "../platform/bounded-text.ts"
import { makeDiskSpaceReserver } from "../bindings/storage-disk.ts"
import { respondWithMessage } from "./io-context.ts"
import type { IoContext } from "./io-context.ts"

/** Body whose length R2 can determine before the upload. */
export type FixedLengthBody = Uint8Array | ReadableStream<Uint8Array>

/**
 * HTTP status Request Timeout. A runner that gets this status regards the transfer as incomplete
 * and sends the request again.
 */
const WRONG_LENGTH = 408

/**
 * Passes the body of a request to `store`, which writes the body to R2 in one call. Then returns
 * the response that `note` makes after recording the stored object. Otherwise responds 411 without
 * a `content-length`, 408 if the body has another length, and 507 if the disk is full.
 */
export async function storeBody<Stored>(
  c: IoContext,
  store: (body: FixedLengthBody) => Promise<Stored>,
  note: (stored: Stored, sizeBytes: number) => Response | Promise<Response>,
): Promise<Response> {
  const header = c.req.header("content-length") ?? ""
  if (!/^\d+$/.test(header)) return respondWithMessage(411, "content-length")
  const sizeBytes = Number(header)
  const space = await makeDiskSpaceReserver(c.env)(sizeBytes)
  if (!space) return respondWithMessage(507, "the disk is full")
  try {
    const result = await storeExactly(c.req.raw.body, sizeBytes, store)
    return result
      ? await note(result.value, sizeBytes)
      : respondWithMessage(WRONG_LENGTH, "content-length")
  } finally {
    space.release()
  }
}

/**
 * Stores a body of exactly this size. Returns null for a body of another size. The body passes
 * through a `FixedLengthStream`, because R2 refuses streams of unknown length. The stream in a
 * container's outbound handler has no known length despite its `content-length`.
 */
async function storeExactly<Stored>(
  body: ReadableStream<Uint8Array> | null,
  sizeBytes: number,
  store: (body: FixedLengthBody) => Promise<Stored>,
): Promise<{ value: Stored } | null> {
  if (!body || sizeBytes === 0) {
    const isEmpty = (await readBoundedText(body, 0)) !== null
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
    // Aborts the pipe: R2 may refuse a body without reading a byte, and a pipe without a reader
    // never ends.
    stop.abort(error)
    const ends = await Promise.allSettled([piping, storing])
    if (ends.some(isWrongLength)) return null
    throw error
  }
}

/** Reports whether a `FixedLengthStream` received fewer or more bytes than its length. */
function isWrongLength(end: PromiseSettledResult<unknown>): boolean {
  return end.status === "rejected" && /FixedLengthStream/.test(String(end.reason))
}
