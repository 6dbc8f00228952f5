import { openToolWrittenFile } from "../sandbox/workspace.ts"

/** Number of bytes at the start of a file from which the type of the file is detected. */
export const FIRST_BYTES_LENGTH = 4096

/** Returns the first bytes of a file in a workspace. */
export async function readFirstBytes(path: string): Promise<Buffer> {
  await using handle = await openToolWrittenFile(path)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_BYTES_LENGTH), { position: 0 })
  return buffer.subarray(0, bytesRead)
}

/**
 * Signatures at the start of media files. Each character stands for one byte, and a full stop
 * stands for any byte. Signatures of only two bytes, such as MP3 without tags, are omitted, because
 * raw samples may begin with the same bytes.
 */
const MEDIA_SIGNATURES = Object.values({
  movie: ["....ftyp", "....moov", "....moof", "....mdat", "\0\0\0\x08wide", "\0\0\0\x08free"],
  matroska: ["\x1aE\xdf\xa3"],
  ogg: ["OggS\0"],
  flv: ["FLV\x01"],
  asf: ["0&\xb2u\x8ef\xcf\x11"],
  mpeg: ["\0\0\x01\xba", "\0\0\x01\xb3"],
  // MPEG-TS has the sync byte G every 188 bytes.
  mpegts: [`G${".".repeat(187)}G${".".repeat(187)}G`],
  mxf: ["\x06\x0e+4"],
  nut: ["nut/multimedia"],
  y4m: ["YUV4MPEG2 "],
  riff: ["RIFF....WAVE", "RF64....WAVE", "RIFF....AVI ", "RIFF....WEBP"],
  aiff: ["FORM....AIF"],
  caf: ["caff\0"],
  flac: ["fLaC\0"],
  tags: ["ID3\x02", "ID3\x03", "ID3\x04"],
  amr: ["#!AMR"],
  wavpack: ["wvpk"],
  ape: ["MAC .\x0f"],
  png: ["\x89PNG\r\n"],
  jpeg: ["\xff\xd8\xff"],
  gif: ["GIF87a", "GIF89a"],
  tiff: ["II*\0", "MM\0*"],
  psd: ["8BPS\0"],
}).flat()

/**
 * Reports whether a file begins with the signature of a known media format. `head` contains the
 * first bytes of the file.
 */
export function hasMediaSignature(head: Buffer): boolean {
  return MEDIA_SIGNATURES.some((signature) => {
    const signs = Array.from(signature)
    return signs.every(
      (sign, at) => at < head.length && (sign === "." || sign.charCodeAt(0) === head[at]),
    )
  })
}

/** Control characters that occur in text: tab, line feed, form feed, carriage return and escape. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b])

/**
 * Decodes the first bytes of a file as text, without a byte order mark. Returns null for binary
 * data.
 */
export function decodeTextStart(head: Buffer): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder("utf-16le").decode(head)
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder("utf-16be").decode(head)
  const isBinary = head.some((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte))
  return isBinary ? null : new TextDecoder("utf-8").decode(head)
}

const HTML = /^<(?:!doctype\s+html|(?:html|head|body|title|script|style|meta)\b)/i
/**
 * Matches one item before the root element of XML or HTML: a declaration, a comment, a document
 * type or whitespace.
 */
const BEFORE_ROOT = /^(?:<\?[^]*?\?>|<!--[^]*?-->|<!doctype\s[^>[]*(?:\[[^]*?\]\s*)?>|\s)/i

/** Reports whether a text is the start of an HTML page. */
export function isWebPage(text: string): boolean {
  return HTML.test(text.trimStart()) || HTML.test(removeXmlProlog(text))
}

/** Removes everything before the root element from the start of an XML or HTML text. */
export function removeXmlProlog(text: string): string {
  let rest = text
  for (;;) {
    const before = BEFORE_ROOT.exec(rest)?.[0]
    if (before === undefined) return rest
    rest = rest.slice(before.length)
  }
}
