import { parse as parseDisposition } from "content-disposition"
import { mediaTypeConverter } from "../../tools/media-types.ts"

const NAME_BYTES_MAX = 200
const DEFAULT_NAME = "download"
const EXTENSION = /\.[A-Za-z0-9]{1,10}$/

/** Media types that say nothing about the content of a file, such as application/octet-stream. */
const VAGUE_TYPES = new Set(
  (
    "application/binary application/download application/force-download application/octet-stream application/unknown " +
    "application/x-download binary/octet-stream text/plain"
  ).split(" "),
)

/** File name and media type of a download. */
export type SourceNameAndType = { name: string; contentType: string }

/**
 * Returns the file name and the media type of a download. The name comes from Content-Disposition,
 * or else from the path of the URL. A name without an extension gets the extension of the media
 * type. A media type that says nothing, such as application/octet-stream, is replaced by the media
 * type of the extension.
 */
export function readSourceNameAndType(
  url: URL,
  disposition: string | undefined,
  contentType: string | null,
): SourceNameAndType {
  const sourceName = cleanName(readDisposition(disposition)) ?? cleanName(lastSegment(url))
  const name = sourceName ?? DEFAULT_NAME
  if (contentType === null || VAGUE_TYPES.has(contentType)) {
    const byName = mediaTypeConverter.getType(name)
    return { name, contentType: byName ?? contentType ?? "application/octet-stream" }
  }
  const extension = EXTENSION.test(name) ? null : mediaTypeConverter.getExtension(contentType)
  return { name: extension === null ? name : cut(name, `.${extension}`), contentType }
}

/**
 * Removes folders and invalid characters from a file name. Returns null if no characters remain.
 */
function cleanName(given: string | null): string | null {
  const last = given?.split(/[/\\]/).at(-1) ?? ""
  const plain = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "")
    .replace(/^[\s.]+|\s+$/g, "")
  if (plain === "") return null
  const extension = EXTENSION.exec(plain)?.[0] ?? ""
  return cut(plain.slice(0, plain.length - extension.length), extension)
}

/**
 * Shortens the stem of a file name at a character boundary. The whole name, with its extension,
 * then has at most NAME_BYTES_MAX bytes.
 */
function cut(stem: string, extension: string): string {
  let bytes = Buffer.byteLength(extension)
  let kept = ""
  for (const character of stem) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_BYTES_MAX) break
    kept += character
  }
  return kept + extension
}

function readDisposition(header: string | undefined): string | null {
  if (header === undefined) return null
  const filename = parseDisposition(header).parameters["filename"]
  return filename === undefined ? null : decodeWords(decodePercent(readUtf8(filename)))
}

/**
 * Decodes a header value again: servers send UTF-8, but Node has decoded the value as Latin-1.
 * Returns the value unchanged if it is not valid UTF-8.
 */
function readUtf8(text: string): string {
  const isBytes = Array.from(text).every((character) => character <= "\u00ff")
  return (isBytes ? decodeAs("utf-8", Buffer.from(text, "latin1")) : null) ?? text
}

function lastSegment({ pathname }: URL): string {
  return decodePercent(pathname.split("/").findLast((segment) => segment !== "") ?? "")
}

/** Decodes percent-encoded text. Returns text with invalid percent-encoding unchanged. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Decodes encoded words of RFC 2047 (`=?charset?encoding?text?=`), which some servers send. */
function decodeWords(text: string): string {
  const joined = text.replace(/(\?=)\s+(=\?)/g, "$1$2")
  const word = /=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi
  return joined.replace(word, (whole, charset: string, coding: string, coded: string) => {
    const bytes = coding.toLowerCase() === "b" ? Buffer.from(coded, "base64") : readQuoted(coded)
    return decodeAs(charset, bytes) ?? whole
  })
}

function readQuoted(coded: string): Buffer {
  const spaced = coded.replaceAll("_", " ")
  const text = spaced.replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(text, "latin1")
}

function decodeAs(charset: string, bytes: Buffer): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
