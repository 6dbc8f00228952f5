import { parse as parseDisposition } from "content-disposition"
import { mediaTypes } from "../../tools/media-types.ts"

const NAME_BYTES_MAX = 200
const DEFAULT_NAME = "download"
const EXTENSION = /\.[A-Za-z0-9]{1,10}$/

/** Types that say nothing of what a file is. */
const VAGUE_TYPES = new Set([
  "application/binary",
  "application/download",
  "application/force-download",
  "application/octet-stream",
  "application/unknown",
  "application/x-download",
  "binary/octet-stream",
  "text/plain",
])

/** What a file is called and what it is, by the answer that brings it. */
export type NamedSource = { name: string; contentType: string }

/**
 * The name comes from Content-Disposition, else from the path of the URL, and has an extension; the
 * type is the server's where that says something, else that of the extension.
 */
export function nameSource(
  url: URL,
  disposition: string | undefined,
  contentType: string | null,
): NamedSource {
  const given = cleanName(readDisposition(disposition)) ?? cleanName(lastSegment(url))
  const name = given ?? DEFAULT_NAME
  if (contentType === null || VAGUE_TYPES.has(contentType)) {
    const byName = mediaTypes.getType(name)
    return { name, contentType: byName ?? contentType ?? "application/octet-stream" }
  }
  const extension = EXTENSION.test(name) ? null : mediaTypes.getExtension(contentType)
  return { name: extension === null ? name : cut(name, `.${extension}`), contentType }
}

/** A name as a file may have it; null where nothing of it is left. */
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

/** Cuts a name so that it fits together with its extension, between two characters. */
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

/** Node reads headers as Latin-1, and servers send UTF-8. */
function readUtf8(text: string): string {
  const isBytes = Array.from(text).every((character) => character <= "\u00ff")
  return (isBytes ? decodeAs("utf-8", Buffer.from(text, "latin1")) : null) ?? text
}

function lastSegment({ pathname }: URL): string {
  return decodePercent(pathname.split("/").findLast((segment) => segment !== "") ?? "")
}

/** What cannot be decoded stays as it is. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Undoes the encoded words of mail (RFC 2047), which some servers use. */
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
