import { deflateRawSync, inflateRawSync } from "node:zlib"
import { customType } from "drizzle-orm/sqlite-core"
import { z } from "zod"
import { PACK_DICTIONARY } from "./pack-dictionary.ts"

// A value as JSON takes a tenth of its bytes where it is deflated with a dictionary of what is in most
// of them. A column of packed values holds texts too, where these are short or do not become shorter.

/** A byte before what is deflated: the number of its dictionary. */
const DICTIONARY_NUMBER = 1
/** A shorter text would hardly become shorter. */
const PACKED_LENGTH_MIN = 48
/** Bytes are twice as many digits in an export: a long text is packed where that is shorter, too. */
const HALVED_LENGTH_MIN = 4 * 1024

const dictionary = new TextEncoder().encode(PACK_DICTIONARY)
const options = { dictionary, level: 6, windowBits: 15 }
const decoder = new TextDecoder()

/** D1 answers bytes as a list of numbers. */
export const bytesOf = z.union([
  z.instanceof(Uint8Array),
  z.instanceof(ArrayBuffer).transform((buffer) => new Uint8Array(buffer)),
  z.array(z.number()).transform((bytes) => Uint8Array.from(bytes)),
])

/** What a column of packed values holds for a text: bytes where these are fewer, else the text. */
export function packText(text: string): string | Uint8Array {
  if (text.length < PACKED_LENGTH_MIN) return text
  const deflated = deflateRawSync(text, options)
  const share = text.length < HALVED_LENGTH_MIN ? 1 : 2
  if (share * (deflated.byteLength + 1) >= text.length) return text
  const bytes = new Uint8Array(deflated.byteLength + 1)
  bytes[0] = DICTIONARY_NUMBER
  bytes.set(deflated, 1)
  return bytes
}

/** The text of what a column of packed values holds; throws where that is packed in no known way. */
export function unpackText(stored: unknown): string {
  if (typeof stored === "string") return stored
  const bytes = bytesOf.parse(stored)
  if (bytes[0] !== DICTIONARY_NUMBER) throw new Error(`unknown dictionary ${bytes[0]}`)
  return decoder.decode(inflateRawSync(bytes.subarray(1), { dictionary }))
}

/** A column of texts that are packed. */
export const packedText = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (text) => packText(text),
  fromDriver: unpackText,
})

/** A column of what is unpacked where it is needed, and not wherever its row is read. */
export const stored = customType<{ data: unknown }>({ dataType: () => "text" })

/** A column of values that are packed as JSON. */
export const packedJson = customType<{ data: unknown; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (value) => packText(JSON.stringify(value)),
  fromDriver: (stored): unknown => JSON.parse(unpackText(stored)),
})
