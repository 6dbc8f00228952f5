import { isWebPage, decodeTextStart, withoutXmlProlog } from "../../tools/first-bytes.ts"

/**
 * Handling of a source. `page`: yt-dlp downloads the media to which the web page or manifest
 * refers. `file`: the body is used as it is.
 */
type SourceKind = "page" | "file"

const PAGE_TYPES = new Set([
  "text/html",
  "application/xhtml+xml",
  "application/dash+xml",
  "application/vnd.apple.mpegurl",
  "application/x-mpegurl",
  "application/mpegurl",
  "audio/mpegurl",
  "audio/x-mpegurl",
])

const DASH = /^<(?:[\w-]+:)?MPD\b/

/**
 * Detects by the first bytes of a body whether it is a web page or manifest, or a file. For other
 * text, the Content-Type decides.
 */
export function detectSourceKind(head: Buffer, contentType: string | null): SourceKind {
  const text = decodeTextStart(head)?.trimStart()
  if (text === undefined) return "file"
  if (text.startsWith("#EXTM3U") || DASH.test(withoutXmlProlog(text))) return "page"
  if (isWebPage(text)) return "page"
  return contentType !== null && PAGE_TYPES.has(contentType) ? "page" : "file"
}

/** Returns the declared media type; null if it is a text type and the first bytes are binary. */
export function credibleMediaType(head: Buffer, contentType: string | null): string | null {
  if (contentType === null || decodeTextStart(head) !== null) return contentType
  return contentType.startsWith("text/") || PAGE_TYPES.has(contentType) ? null : contentType
}
