import type { IncomingMessage } from "node:http"

/** Properties of a source, as stated by the headers of a response. */
export type SourceProperties = {
  /**
   * Length of the whole source in bytes, before content codings are decoded; null if the response
   * headers do not contain the length.
   */
  length: number | null
  /** Byte position in the source at which the body of this response begins. */
  offset: number
  /** Content codings of the body, in the order in which the server has applied the codings. */
  codings: string[]
  /** Strong ETag of the source; null if the server sent no strong ETag. */
  etag: string | null
  /**
   * Value of Last-Modified; null if the date is missing, or so recent that two versions of the
   * source may have the same date.
   */
  lastModified: string | null
  /** Media type of the source without parameters, in lower case. */
  contentType: string | null
}

/**
 * Minimum age of a usable Last-Modified date, in milliseconds. With a more recent date, two
 * versions of a source may have the same date.
 */
const LAST_MODIFIED_AGE_MS_MIN = 1000

/** Values of Content-Encoding that some servers send for a body without a content coding. */
const NO_CODINGS = new Set([
  "",
  "identity",
  "none",
  "binary",
  "utf-8",
  "7bit",
  "8bit",
  "aws-chunked",
])

/**
 * Reads the properties of a source from a response with status 200 or 206. Returns null if its
 * Content-Range is invalid.
 */
export function readSourceProperties(response: IncomingMessage): SourceProperties | null {
  const { headers, statusCode } = response
  const range = statusCode === 206 ? readContentRange(headers["content-range"]) : null
  if (statusCode === 206 && !range) return null
  return {
    length: range ? range.total : readLength(headers["content-length"]),
    offset: range?.start ?? 0,
    codings: readCodings(headers["content-encoding"]),
    etag: readStrongEtag(headers.etag),
    lastModified: readLastModified(headers["last-modified"], headers.date),
    contentType: readContentType(headers["content-type"]),
  }
}

/**
 * Returns the value of the header If-Range for a request of the rest of a source; null if the
 * server sent no usable validator.
 */
export function getIfRangeValue({ etag, lastModified }: SourceProperties): string | null {
  return etag ?? lastModified
}

/**
 * Reports whether a later response with the whole source contains the same version of the source as
 * the first response.
 */
export function isSameSourceVersion(first: SourceProperties, later: SourceProperties): boolean {
  return (
    getIfRangeValue(first) !== null &&
    getIfRangeValue(first) === getIfRangeValue(later) &&
    agree(first.length, later.length) &&
    first.codings.join() === later.codings.join()
  )
}

/**
 * Reports whether a later response with a part of the source may belong to the same version as the
 * first response. Headers that a partial response omits count as equal.
 */
export function isPartOfSameSourceVersion(
  first: SourceProperties,
  part: SourceProperties,
): boolean {
  return (
    agree(first.etag, part.etag) &&
    agree(first.lastModified, part.lastModified) &&
    agree(first.length, part.length)
  )
}

function agree<Value>(one: Value | null, other: Value | null): boolean {
  return one === null || other === null || one === other
}

/**
 * Returns the length of the whole source that a response with status 416 states; null if the
 * response states no length.
 */
export function readSourceLengthFrom416({ headers }: IncomingMessage): number | null {
  const length = /^\s*bytes\s+\*\/(\d+)\s*$/i.exec(headers["content-range"] ?? "")?.[1]
  return length === undefined ? null : Number(length)
}

function readContentRange(header: string | undefined) {
  const [, start, end, total] = /^\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*$/i.exec(header ?? "") ?? []
  if (start === undefined || end === undefined) return null
  const length = total === "*" ? null : Number(total)
  const isTrue = Number(start) <= Number(end) && (length === null || Number(end) < length)
  return isTrue ? { start: Number(start), total: length } : null
}

function readLength(header: string | undefined): number | null {
  return /^\d{1,15}$/.test(header ?? "") ? Number(header) : null
}

function readCodings(header: string | undefined): string[] {
  const words = (header ?? "").split(",").map((word) => word.trim().toLowerCase())
  return words.filter((word) => !NO_CODINGS.has(word))
}

function readStrongEtag(header: string | undefined): string | null {
  return /^"[\x20\x21\x23-\x7e\x80-\xff]+"$/.test(header ?? "") ? (header ?? null) : null
}

function readLastModified(header: string | undefined, date: string | undefined): string | null {
  const modifiedAt = Date.parse(header ?? "")
  const answeredAt = date === undefined ? Date.now() : Date.parse(date)
  if (header === undefined || Number.isNaN(modifiedAt) || Number.isNaN(answeredAt)) return null
  return answeredAt - modifiedAt >= LAST_MODIFIED_AGE_MS_MIN ? header : null
}

function readContentType(header: string | undefined): string | null {
  const essence = header?.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(essence) ? essence.slice(0, 200) : null
}
