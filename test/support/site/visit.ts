import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

/** Request that the test site received. */
export type SiteRequest = {
  method: string
  /** Path with the query. */
  path: string
  headers: IncomingHttpHeaders
  remote: string
  /** Time of the request, in milliseconds since the epoch. */
  at: number
  /** Number of bytes of the response body that were sent so far. */
  sent: number
}

/** Arguments of a route of the test site. */
export type SiteRouteContext = {
  /** URL of the request, with the host that the client named. */
  url: URL
  request: IncomingMessage
  /** Path of the folder with the media files. */
  folder: string
  /** Number of earlier requests of the same URL. */
  times: number
}

/** Response of a route before query parameters change it. */
export type SiteResponse = {
  status: number
  type: string
  headers: Record<string, string>
  /** Size of the content in bytes; `Infinity` for endless content. */
  size: number
  /** Returns the bytes from the offset `from` up to, but not including, `to`. */
  read(from: number, to: number): Iterable<Uint8Array>
  /** Text that changes with the content, from which the ETag is made. */
  version: string
  /**
   * Bytes to send on the connection in place of an HTTP response, which the other fields describe.
   */
  raw?: Buffer
}

/** Returns a response with bytes from memory. */
export function makeMemoryResponse(
  type: string,
  bytes: Uint8Array,
  more: { status?: number; headers?: Record<string, string> } = {},
): SiteResponse {
  return {
    status: more.status ?? 200,
    type,
    headers: more.headers ?? {},
    size: bytes.byteLength,
    read: (from, to) => [bytes.subarray(from, to)],
    version: String(bytes.byteLength),
  }
}

/** Returns a response with a text. */
export function makeTextResponse(
  type: string,
  text: string,
  more: { status?: number; headers?: Record<string, string> } = {},
): SiteResponse {
  return makeMemoryResponse(type, Buffer.from(text), more)
}

/** Returns a response with an HTML page. */
export function makePageResponse(
  { title = "A page", head = "", body = "" }: { title?: string; head?: string; body?: string },
  more: { status?: number; headers?: Record<string, string> } = {},
): SiteResponse {
  const lines = [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<title>${escapeHtml(title)}</title>${head}</head>`,
    `<body><h1>${escapeHtml(title)}</h1>${body}</body></html>`,
  ]
  return makeTextResponse("text/html; charset=utf-8", `${lines.join("\n")}\n`, more)
}

/** Escapes a text for an HTML attribute or element. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
}
