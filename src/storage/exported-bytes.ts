import { getTableColumns } from "drizzle-orm"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"
import { bytesOf } from "./packed-text.ts"

// An export of D1 is a statement for each row, and D1 takes statements of 100 KB at most. In it texts are
// UTF-8 with each quote twice and each end of a line as two signs, and bytes are hexadecimal digits.

/** Bytes of a row in an export, without the names of its columns. */
export const ROW_BYTES_MAX = 40_000

/** The most bytes that a character of a text takes. */
const CHARACTER_BYTES_MAX = 3
/** Of an integer or a real number, and of what stands around a value. */
const NUMBER_BYTES_MAX = 24
const AROUND_BYTES = 64

const encoder = new TextEncoder()

/** Bytes that a value of a row takes in an export, as D1 has it. */
export function exportedBytes(value: unknown): number {
  if (value === null || value === undefined) return 5
  if (typeof value !== "string") {
    return typeof value === "object"
      ? 2 * bytesOf.parse(value).byteLength + AROUND_BYTES
      : NUMBER_BYTES_MAX
  }
  const twice = value.match(/['\n\r]/g)?.length ?? 0
  return encoder.encode(value).byteLength + twice + AROUND_BYTES
}

/** Whether a text is so short that it takes no more bytes than that, whatever is in it. */
export function isSurelyShort(text: string, bytesMax: number): boolean {
  return text.length * CHARACTER_BYTES_MAX + AROUND_BYTES <= bytesMax
}

/** Bytes that a row takes in an export; what is not set counts as null. */
export function rowBytes(table: SQLiteTable, row: Readonly<Record<string, unknown>>): number {
  return Object.entries(getTableColumns(table)).reduce((sum, [key, column]) => {
    const { [key]: value } = row
    const isSet = value !== null && value !== undefined
    return sum + exportedBytes(isSet ? column.mapToDriverValue(value) : null)
  }, 0)
}
