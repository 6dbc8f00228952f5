import { customType } from "drizzle-orm/sqlite-core"
import { toHex } from "../crypto/hex.ts"
import { bytesOf } from "./packed-text.ts"

// Columns of ids and of hashes that no index has, as bytes: half of what their digits take. Any other
// text stays a text.

const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/
const HASH = /^[\da-f]{64}$/
const ID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

/** A column of UUIDs. */
export const compactId = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (id) => (ID.test(id) ? fromHex(id.replaceAll("-", "")) : id),
  fromDriver: (stored) => hexOf(stored).replace(ID_GROUPS, "$1-$2-$3-$4-$5"),
})

/** A column of SHA-256 hashes in hexadecimal. */
export const compactHash = customType<{ data: string; driverData: unknown }>({
  dataType: () => "text",
  toDriver: (hash) => (HASH.test(hash) ? fromHex(hash) : hash),
  fromDriver: hexOf,
})

function hexOf(stored: unknown): string {
  return typeof stored === "string" ? stored : toHex(bytesOf.parse(stored))
}

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}
