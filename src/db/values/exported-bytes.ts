import { getTableColumns } from "drizzle-orm"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"
import { d1BytesSchema } from "./compressed-text.ts"

// Computes the size of rows in an SQL export of D1. An export has one statement for each row, and
// D1 accepts statements of at most 100 KB. The export writes text as UTF-8 with doubled quotes and
// escaped line ends, and bytes as hexadecimal digits.

/** Maximum size of a row in an SQL export, in bytes, without the names of the columns. */
export const EXPORTED_ROW_BYTES_MAX = 40_000

/** Maximum number of UTF-8 bytes that one UTF-16 code unit takes. */
const CHARACTER_BYTES_MAX = 3
/** Maximum number of bytes of an exported number. */
const NUMBER_BYTES_MAX = 24
const AROUND_BYTES = 64

const encoder = new TextEncoder()

/** Returns an upper bound for the size of one column's value in an SQL export, in bytes. */
export function computeMaxExportedValueBytes(value: unknown): number {
  if (value === null || value === undefined) return 5
  if (typeof value !== "string") {
    return typeof value === "object"
      ? 2 * d1BytesSchema.parse(value).byteLength + AROUND_BYTES
      : NUMBER_BYTES_MAX
  }
  const twice = value.match(/['\n\r]/g)?.length ?? 0
  return encoder.encode(value).byteLength + twice + AROUND_BYTES
}

/**
 * Reports whether a text certainly takes at most `bytesMax` bytes in an SQL export. Assumes the
 * most bytes for each character, and may therefore return false for a text that fits.
 */
export function fitsInExportByTextLength(text: string, bytesMax: number): boolean {
  return text.length * CHARACTER_BYTES_MAX + AROUND_BYTES <= bytesMax
}

/**
 * Returns an upper bound for the size of a row in an SQL export, in bytes. Absent columns count as
 * NULL.
 */
export function computeMaxExportedRowBytes(
  table: SQLiteTable,
  row: Readonly<Record<string, unknown>>,
): number {
  return Object.entries(getTableColumns(table)).reduce((sum, [key, column]) => {
    const { [key]: value } = row
    const isSet = value !== null && value !== undefined
    return sum + computeMaxExportedValueBytes(isSet ? column.mapToDriverValue(value) : null)
  }, 0)
}
