import type { IncomingMessage } from "node:http"

/** What an answer says of the bytes that its URL names. */
export type SourceFacts = {
  /** Bytes of the whole as it is sent, before codings are undone; null where it is not said. */
  length: number | null
  /** Where the body of this answer begins in the whole. */
  offset: number
  /** Codings to undo, in the order in which they were applied. */
  codings: string[]
  /** A strong ETag. */
  etag: string | null
  /** A Last-Modified that no two versions share. */
  lastModified: string | null
  /** Media type without its parameters, in lower case. */
  contentType: string | null
}

/** A date this near the answer may be that of two versions. */
const LAST_MODIFIED_AGE_MS_MIN = 1000

/** Words that servers give as codings though nothing is coded. */
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

/** Reads the facts of an answer of 200 or 206; null where its range makes no sense. */
export function readFacts(response: IncomingMessage): SourceFacts | null {
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

/** What a request for the rest is conditional on; null where nothing tells one version from another. */
export function ifRangeOf({ etag, lastModified }: SourceFacts): string | null {
  return etag ?? lastModified
}

/** Whether a later answer with the whole is of the same version of the source as the first. */
export function isSameVersion(first: SourceFacts, later: SourceFacts): boolean {
  return (
    ifRangeOf(first) !== null &&
    ifRangeOf(first) === ifRangeOf(later) &&
    agree(first.length, later.length) &&
    first.codings.join() === later.codings.join()
  )
}

/** Whether an answer with a part, which need not repeat what is known, may be of the same version. */
export function isPartOfVersion(first: SourceFacts, part: SourceFacts): boolean {
  return (
    agree(first.etag, part.etag) &&
    agree(first.lastModified, part.lastModified) &&
    agree(first.length, part.length)
  )
}

function agree<Value>(one: Value | null, other: Value | null): boolean {
  return one === null || other === null || one === other
}

/** The length that an answer of 416 says the source has; null where it does not. */
export function readUnsatisfied({ headers }: IncomingMessage): number | null {
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
