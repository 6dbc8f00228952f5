import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

/** A request as tests see it. */
export type SiteRequest = {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  remote: string
  /** Milliseconds since the epoch. */
  at: number
  /** Bytes of the body that were sent so far. */
  sent: number
}

/** Arguments of a route. */
export type Visit = {
  /** Of this site, by the name that it was asked by. */
  url: URL
  request: IncomingMessage
  /** Where the media lies. */
  folder: string
  /** How often this very address was asked for before. */
  times: number
}

/** Whole content of an address; the manner decides how it is sent. */
export type Answer = {
  status: number
  type: string
  headers: Record<string, string>
  /** Bytes; `Infinity` for what never ends. */
  size: number
  /** The bytes from an offset up to another. */
  read(from: number, to: number): Iterable<Uint8Array>
  /** Version from which validators are made. */
  version: string
  /** Said on the bare connection instead of all else. */
  raw?: Buffer
}

/** An answer of bytes that are in memory. */
export function wholeAnswer(
  type: string,
  bytes: Uint8Array,
  more: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  return {
    status: more.status ?? 200,
    type,
    headers: more.headers ?? {},
    size: bytes.byteLength,
    read: (from, to) => [bytes.subarray(from, to)],
    version: String(bytes.byteLength),
  }
}

/** An answer of text. */
export function textAnswer(
  type: string,
  text: string,
  more: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  return wholeAnswer(type, Buffer.from(text), more)
}

/** A page with this in its head and its body. */
export function pageAnswer(
  { title = "A page", head = "", body = "" }: { title?: string; head?: string; body?: string },
  more: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  const lines = [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<title>${escapeHtml(title)}</title>${head}</head>`,
    `<body><h1>${escapeHtml(title)}</h1>${body}</body></html>`,
  ]
  return textAnswer("text/html; charset=utf-8", `${lines.join("\n")}\n`, more)
}

/** Text for an attribute or an element. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
}
