import { isWebPage, decodeTextStart, removeXmlProlog } from "../../tools/first-bytes.ts"

/**
 * Kind of a source, which decides how the source is imported. `page`: a web page or manifest, whose
 * media yt-dlp downloads. `file`: a file, whose bytes are stored unchanged.
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
 * Detects by the first bytes of a body whether the body is a web page or manifest, or another file.
 * If the first bytes are text that looks like neither, the Content-Type decides.
 */
export function detectSourceKind(head: Buffer, contentType: string | null): SourceKind {
  const text = decodeTextStart(head)?.trimStart()
  if (text === undefined) return "file"
  if (text.startsWith("#EXTM3U") || DASH.test(removeXmlProlog(text))) return "page"
  if (isWebPage(text)) return "page"
  return contentType !== null && PAGE_TYPES.has(contentType) ? "page" : "file"
}

/**
 * Returns the media type that a server has declared; null if the type is one of text or web pages
 * although the first bytes of the body are binary.
 */
export function selectCredibleMediaType(head: Buffer, contentType: string | null): string | null {
  if (contentType === null || decodeTextStart(head) !== null) return contentType
  return contentType.startsWith("text/") || PAGE_TYPES.has(contentType) ? null : contentType
}
