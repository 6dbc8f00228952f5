import { fileTypeFromBuffer } from "file-type"
import type { AppContext } from "../../context.ts"
import { Problem } from "../../output/problem.ts"

/** Number of first bytes from which the type of a file is recognized. */
export const TYPE_DETECTION_BYTES = 4100

/** Control characters other than white space. */
const CONTROL = /(?!\s)\p{Cc}/u

/** Throws 415 if the request came by an upload link that does not take files with these first bytes. */
export async function requireAllowedType(c: AppContext, start: Uint8Array): Promise<void> {
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

/** Returns bytes as text; null if they are no UTF-8 text. A last character may be cut. */
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
