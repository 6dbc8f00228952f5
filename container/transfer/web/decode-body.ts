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
import { peekBodyStart } from "./peek-body.ts"
import { SourceError } from "./source-error.ts"

const CODINGS_MAX = 3
/**
 * Maximum window size of zstd that RFC 9659 allows, as a binary logarithm. The window size limits
 * the memory of the decoder.
 */
const ZSTD_WINDOW_LOG_MAX = 23

const ZLIB_METHOD = 8

/**
 * Decodes the content codings of a body, such as gzip, in the reverse of the order in which they
 * were applied. Throws a SourceError for an unknown coding.
 */
export async function decodeContentCodings(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  if (codings.length > CODINGS_MAX) {
    throw new SourceError("server_error", "The server sent the file in too many codings.")
  }
  let decoded = body
  for (const coding of codings.toReversed()) decoded = await decodeCoding(decoded, coding)
  return decoded
}

async function decodeCoding(
  body: AsyncIterable<Uint8Array>,
  coding: string,
): Promise<AsyncIterable<Uint8Array>> {
  const { head, whole } = await peekBodyStart(body, 1)
  // Accepts an empty body with any content coding, since some servers declare a coding for an empty
  // body.
  if (head.length === 0) return whole
  const decoder = createDecoder(coding, head)
  if (!decoder) {
    const message = `The server sent the file in an unknown coding: ${coding.slice(0, 40)}.`
    throw new SourceError("server_error", message)
  }
  return decodeChunks(decoder, whole, coding)
}

function createDecoder(coding: string, head: Uint8Array): Transform | null {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "deflate":
      // Accepts raw deflate data without a zlib header, which some servers send.
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

async function* decodeChunks(
  decoder: Transform,
  body: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body, { objectMode: false })
  const decoded: AsyncIterable<unknown> = pipeline(source, decoder, () => undefined)
  try {
    for await (const chunk of decoded) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("The body does not consist of bytes.")
      yield chunk
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    if (!/^(?:Z_|ERR__ERROR|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(code)) throw error
    const message = `The server's data cannot be decoded as ${coding} (${code}).`
    throw new SourceError("incomplete", message, { cause: error })
  } finally {
    source.destroy()
  }
}
