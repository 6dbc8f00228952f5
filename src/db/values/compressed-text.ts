import { deflateRawSync, inflateRawSync } from "node:zlib"
import { customType } from "drizzle-orm/sqlite-core"
import { z } from "zod"
import { COMPRESSION_DICTIONARY } from "./compression-dictionary.ts"

// Column types for compressed text. Deflate with a preset dictionary shrinks JSON to about a tenth.
// Short or incompressible text is stored uncompressed.

/** Number of the dictionary, which is the first byte of a compressed value. */
const DICTIONARY_NUMBER = 1
/** Length, in characters, of the shortest text that is compressed. Shorter texts gain nothing. */
const PACKED_LENGTH_MIN = 48
/**
 * Length from which a text is stored compressed only if compression halves its length. An SQL
 * export writes each byte as two hexadecimal digits, so that a smaller gain would lengthen the
 * export.
 */
const HALVED_LENGTH_MIN = 4 * 1024

const dictionary = new TextEncoder().encode(COMPRESSION_DICTIONARY)
const options = { dictionary, level: 6, windowBits: 15 }
const decoder = new TextDecoder()

/** Schema of bytes from D1, which converts a list of numbers to a Uint8Array. */
export const d1BytesSchema = z.union([
  z.instanceof(Uint8Array),
  z.instanceof(ArrayBuffer).transform((buffer) => new Uint8Array(buffer)),
  z.array(z.number()).transform((bytes) => Uint8Array.from(bytes)),
])

/** Compresses a text. Returns the text unchanged if the compressed form is not shorter. */
export function compressText(text: string): string | Uint8Array {
  if (text.length < PACKED_LENGTH_MIN) return text
  const deflated = deflateRawSync(text, options)
  const share = text.length < HALVED_LENGTH_MIN ? 1 : 2
  if (share * (deflated.byteLength + 1) >= text.length) return text
  const bytes = new Uint8Array(deflated.byteLength + 1)
  bytes[0] = DICTIONARY_NUMBER
  bytes.set(deflated, 1)
  return bytes
}

/**
 * Decompresses the value of a column to text. Throws if the value was compressed with an unknown
 * dictionary.
 */
export function decompressText(column: unknown): string {
  if (typeof column === "string") return column
  const bytes = d1BytesSchema.parse(column)
  if (bytes[0] !== DICTIONARY_NUMBER) throw new Error(`unknown dictionary ${bytes[0]}`)
  return decoder.decode(inflateRawSync(bytes.subarray(1), { dictionary }))
}

/** Column type for text that is compressed in the database. */
export const compressedTextColumn = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (text) => compressText(text),
  fromDriver: decompressText,
})

/**
 * Column type for values that stay compressed when the row is read. The caller decompresses a value
 * if necessary.
 */
export const rawCompressedColumn = customType<{ data: unknown }>({ dataType: () => "text" })

/** Column type for JSON values that are compressed in the database. */
export const compressedJsonColumn = customType<{ data: unknown; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (value) => compressText(JSON.stringify(value)),
  fromDriver: (column): unknown => JSON.parse(decompressText(column)),
})
