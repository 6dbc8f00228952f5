export type ByteRange = { start: number; end: number }

/**
 * The one range that a Range header asks for, first and last byte; its end is before its start
 * where nothing of it is there. Null for a header that is to be ignored: another unit, several
 * ranges, or none that can be read (RFC 9110, 14.2).
 */
export function parseRange(header: string, sizeBytes: number): ByteRange | null {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim()) ?? []
  if (first === "" && last === "") return null
  const lastByte = sizeBytes - 1
  if (first === "") return suffix(Number(last), sizeBytes)
  const start = Number(first)
  if (last === "") return { start, end: lastByte }
  const end = Number(last)
  return end < start ? null : { start, end: Math.min(end, lastByte) }
}

/** The last so many bytes; all where there are not so many. */
function suffix(bytes: number, sizeBytes: number): ByteRange {
  const end = bytes === 0 ? -1 : sizeBytes - 1
  return { start: Math.max(0, sizeBytes - bytes), end }
}
