import { fileTypeFromBuffer } from "file-type"
import type { AppContext } from "../../context.ts"
import { Problem } from "../../output/problem.ts"

/** Number of bytes at the start of a file from which the file's media type is detected. */
export const TYPE_DETECTION_BYTES = 4100

/** Control characters other than white space. */
const CONTROL = /(?!\s)\p{Cc}/u

/**
 * Throws 415 if the upload link of a request does not accept the media type of a file's first
 * bytes.
 */
export async function requireTypeAllowedByLink(c: AppContext, start: Uint8Array): Promise<void> {
  const types = c.get("uploadLink")?.types ?? []
  if (types.length === 0) return
  const type = await recognizeType(start.subarray(0, TYPE_DETECTION_BYTES))
  if (types.some((allowed) => covers(allowed, type))) return
  const message = `The first bytes of the file are those of ${type}; the link takes ${types.join(", ")}.`
  throw new Problem("media_type_not_allowed", message)
}

function covers(allowed: string, type: string): boolean {
  return allowed.endsWith("/*") ? type.startsWith(allowed.slice(0, -1)) : allowed === type
}

async function recognizeType(start: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(start)
  if (found) return found.mime
  const text = readText(start)
  if (text === null) return "application/octet-stream"
  if (/^\uFEFF?WEBVTT\b/.test(text)) return "text/vtt"
  if (/<svg[\s>]/i.test(text)) return "image/svg+xml"
  return "text/plain"
}

/**
 * Returns bytes as text; null if the bytes are not UTF-8 text. The last character may be
 * incomplete.
 */
function readText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: true,
    })
    return CONTROL.test(text) ? null : text
  } catch {
    return null
  }
}
