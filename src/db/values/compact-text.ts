import { customType } from "drizzle-orm/sqlite-core"
import { toHex } from "../../platform/crypto/hex.ts"
import { d1BytesSchema } from "./compressed-text.ts"

// Column types for ids and hashes that no index covers. UUIDs and hashes are stored as bytes, which
// take half the size of the text. Any other text is stored unchanged.

const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/
const HASH = /^[\da-f]{64}$/
const ID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

/** Column type for UUIDs: text in code, bytes in the database. */
export const compactIdColumn = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (id) => (ID.test(id) ? fromHex(id.replaceAll("-", "")) : id),
  fromDriver: (column) => hexOf(column).replace(ID_GROUPS, "$1-$2-$3-$4-$5"),
})

/** Column type for SHA-256 hashes: hexadecimal text in code, bytes in the database. */
export const compactHashColumn = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (hash) => (HASH.test(hash) ? fromHex(hash) : hash),
  fromDriver: hexOf,
})

function hexOf(column: unknown): string {
  return typeof column === "string" ? column : toHex(d1BytesSchema.parse(column))
}

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}
