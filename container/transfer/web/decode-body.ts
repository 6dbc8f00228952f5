import { pipeline, Readable } from "node:stream"
import type { Transform } from "node:stream"
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib"
import { peek } from "./peek.ts"
import { SourceError } from "./source-error.ts"

const CODINGS_MAX = 3
/** What RFC 9659 allows a sender; a larger window is memory for nothing. */
const ZSTD_WINDOW_LOG_MAX = 23

const ZLIB_METHOD = 8

/** Undoes the codings of a body, the last applied first; throws a SourceError for others. */
export async function decodeBody(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  if (codings.length > CODINGS_MAX) {
    throw new SourceError("server_error", "The server sent the file in too many codings.")
  }
  let decoded = body
  for (const coding of codings.toReversed()) decoded = await undo(decoded, coding)
  return decoded
}

async function undo(
  body: AsyncIterable<Uint8Array>,
  coding: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { head, whole } = await peek(body, 1)
  // Nothing coded as nothing: some servers name a coding of a body that they do not send.
  if (head.length === 0) return whole
  const decoder = decoderOf(coding, head)
  if (!decoder) {
    const message = `The server sent the file in a coding that is not known: ${coding.slice(0, 40)}.`
    throw new SourceError("server_error", message)
  }
  return decodedBy(decoder, whole, coding)
}

function decoderOf(coding: string, head: Uint8Array): Transform | null {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "deflate":
      // Some servers leave out the wrapper that zlib puts around it.
      return ((head[0] ?? 0) & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw()
    case "br":
      return createBrotliDecompress()
    case "zstd":
      return createZstdDecompress({
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      })
    default:
      return null
  }
}

async function* decodedBy(
  decoder: Transform,
  body: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body, { objectMode: false })
  const decoded: AsyncIterable<unknown> = pipeline(source, decoder, () => undefined)
  try {
    for await (const chunk of decoded) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("The body is no bytes.")
      yield chunk
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    if (!/^(?:Z_|ERR__ERROR|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(code)) throw error
    const message = `What the server sent cannot be decoded as ${coding} (${code}).`
    throw new SourceError("incomplete", message, { cause: error })
  } finally {
    source.destroy()
  }
}
