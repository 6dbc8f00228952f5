import type { IncomingHttpHeaders } from "node:http"
import type { ResponseChanges } from "./response-changes.ts"
import type { SiteResponse, SiteRequest } from "./visit.ts"

const MODIFIED_AT = "Mon, 02 Nov 2026 10:00:00 GMT"
const RANGE = /^bytes=(\d*)-(\d*)$/

/** Returns the ETag and Last-Modified of a response. */
export function makeValidators(
  answer: SiteResponse,
  { etag, modified }: ResponseChanges,
  { at, path }: SiteRequest,
): { etag: string | null; modified: string | null } {
  if (answer.status !== 200) return { etag: null, modified: null }
  const version = etag === "changing" ? `${answer.version}-${at}-${Math.random()}` : answer.version
  const tag = `"${version}-${Buffer.from(path).toString("base64url").slice(-8)}"`
  return {
    etag: etag === "none" ? null : `${etag === "weak" ? "W/" : ""}${tag}`,
    modified: modified === "yes" ? MODIFIED_AT : null,
  }
}

/**
 * Returns the byte range that a request asks for, or null if the request gets the whole content.
 */
export function chooseByteRange(asked: {
  headers: IncomingHttpHeaders
  size: number
  etag: string | null
  modified: string | null
}): { status: 206 | 416; from: number; to: number } | null {
  const { headers, size, etag, modified } = asked
  const [, first = "", last = ""] = RANGE.exec(headers.range ?? "") ?? []
  if (first === "" && last === "") return null
  const condition = headers["if-range"]
  // A weak ETag never matches, because the bytes of two versions may differ.
  const isSame = condition === modified || (condition === etag && !etag?.startsWith("W/"))
  if (condition !== undefined && !isSame) return null
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === "" || last === "" ? size : Math.min(size, Number(last) + 1)
  if (from >= size || from >= to) return { status: 416, from: 0, to: 0 }
  return { status: 206, from, to }
}
