/** How many bytes of a body are looked at. */
export const HEAD_BYTES = 4096

/** `page`: for yt-dlp, which finds media in pages and manifests; `file`: stored as it is. */
export type KindOfSource = "page" | "file"

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

const HTML = /^<(?:!doctype\s+html|(?:html|head|body|title|script|style|meta)\b)/i
const DASH = /^<(?:[\w-]+:)?MPD\b/
/** What may stand before the first element: declarations, comments and a document type. */
const BEFORE_ROOT = /^(?:<\?[^]*?\?>|<!--[^]*?-->|<!doctype\s[^>[]*(?:\[[^]*?\]\s*)?>|\s)/i

/** Tab, line ends, form feed and escape. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b])

/** What a body is by its first bytes; the server's word counts where they are any other text. */
export function kindOfSource(head: Buffer, contentType: string | null): KindOfSource {
  const text = readText(head)?.trimStart()
  if (text === undefined) return "file"
  const content = withoutProlog(text)
  if (text.startsWith("#EXTM3U") || DASH.test(content)) return "page"
  if (HTML.test(text) || HTML.test(content)) return "page"
  return contentType !== null && PAGE_TYPES.has(contentType) ? "page" : "file"
}

/** The media type, which is none where it is one of a text and the first bytes are not. */
export function credibleType(head: Buffer, contentType: string | null): string | null {
  if (contentType === null || readText(head) !== null) return contentType
  return contentType.startsWith("text/") || PAGE_TYPES.has(contentType) ? null : contentType
}

function withoutProlog(text: string): string {
  let rest = text
  for (;;) {
    const before = BEFORE_ROOT.exec(rest)?.[0]
    if (before === undefined) return rest
    rest = rest.slice(before.length)
  }
}

/** The head as text without its byte order mark; null where it holds bytes that no text has. */
function readText(head: Buffer): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder("utf-16le").decode(head)
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder("utf-16be").decode(head)
  const isBinary = head.some((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte))
  return isBinary ? null : new TextDecoder("utf-8").decode(head)
}
