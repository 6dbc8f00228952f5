import { isEntityTagList, includesEntityTag } from "../../output/entity-tag.ts"
import { Problem } from "../../output/problem.ts"
import type { AppContext } from "../../context.ts"

/** Version of a download: its ETag, and the time of its last change. */
export type DownloadVersion = Pick<R2Object, "httpEtag" | "uploaded">

/**
 * Evaluates the conditional headers of a GET or HEAD in the order of RFC 9110, 13.2.2: `unchanged`
 * means 304, `failed` means 412. Unquoted tags match nothing; invalid dates are ignored.
 */
export function evaluatePreconditions(
  headers: Headers,
  version: DownloadVersion,
): "hold" | "unchanged" | "failed" {
  const match = headers.get("if-match")
  const isWanted =
    match === null
      ? !isLater(version, headers.get("if-unmodified-since"))
      : includesEntityTag(match, version.httpEtag, "strong")
  if (!isWanted) return "failed"
  const noneMatch = headers.get("if-none-match")
  const since = headers.get("if-modified-since")
  const isKnown =
    noneMatch === null
      ? readDate(since) !== null && !isLater(version, since)
      : includesEntityTag(noneMatch, version.httpEtag, "weak")
  return isKnown ? "unchanged" : "hold"
}

/** Reports whether an R2 object is newer than the date of a header; false without a valid date. */
function isLater({ uploaded }: DownloadVersion, header: string | null): boolean {
  const date = readDate(header)
  return date !== null && Math.floor(uploaded.getTime() / 1000) * 1000 > date
}

function readDate(header: string | null): number | null {
  const date = Date.parse(header ?? "")
  return Number.isNaN(date) ? null : date
}

/** Returns the 412 error for a conditional request whose condition does not hold. */
export function preconditionFailedProblem(c: AppContext): Problem {
  const match = c.req.header("if-match")
  const message =
    match === undefined || isEntityTagList(match)
      ? "The file does not match the condition; download it again from the start."
      : "If-Match: expected * or entity tags in double quotes, like the ETag header of the file."
  return new Problem("precondition_failed", message)
}

/** Byte range: the offsets of its first and last byte. */
export type RequestedByteRange = { start: number; end: number }

/**
 * Returns the requested byte range. Returns null to send all bytes: if the request has no range or
 * several, or if its `If-Range` does not match `version`. `version` may be null for a request
 * without `If-Range`. Throws 416 for a range outside the bytes.
 */
export function selectByteRange(
  c: AppContext,
  sizeBytes: number,
  version: DownloadVersion | null,
): RequestedByteRange | null {
  const header = c.req.header("range")
  const range = header === undefined ? null : parseRange(header, sizeBytes)
  if (range === null || !matchesIfRange(c.req.header("if-range"), version)) return null
  if (range.start <= range.end) return range
  throw new Problem(
    "range_not_satisfiable",
    `The range is outside the file, which has ${sizeBytes} bytes.`,
    { headers: { "content-range": `bytes */${sizeBytes}` } },
  )
}

function matchesIfRange(header: string | undefined, version: DownloadVersion | null): boolean {
  if (header === undefined) return true
  if (!version) return false
  if (header.startsWith('"')) return header === version.httpEtag
  return Date.parse(header) === Math.floor(version.uploaded.getTime() / 1000) * 1000
}

/** Sets the Content-Length of a download, and the Content-Range if only a range is sent. */
export function setContentLengthHeaders(
  headers: Headers,
  sizeBytes: number,
  range: RequestedByteRange | null,
): void {
  headers.set("content-length", String(range ? range.end - range.start + 1 : sizeBytes))
  if (range) headers.set("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`)
}

/**
 * Parses a Range header to the offsets of its first and last byte; `end < start` means not
 * satisfiable. Returns null to ignore the header: another unit, several ranges, or a syntax error
 * (RFC 9110, 14.2).
 */
function parseRange(header: string, sizeBytes: number): RequestedByteRange | null {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim()) ?? []
  if (first === "" && last === "") return null
  const lastByte = sizeBytes - 1
  if (first === "") return suffixRange(Number(last), sizeBytes)
  const start = Number(first)
  if (last === "") return { start, end: lastByte }
  const end = Number(last)
  return end < start ? null : { start, end: Math.min(end, lastByte) }
}

/**
 * Returns the range of the last `bytes` bytes of a file, or of the whole file if the file is
 * shorter.
 */
function suffixRange(bytes: number, sizeBytes: number): RequestedByteRange {
  const end = bytes === 0 ? -1 : sizeBytes - 1
  return { start: Math.max(0, sizeBytes - bytes), end }
}
