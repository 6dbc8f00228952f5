import { byteLengthOf } from "../../contract/bundle.ts"

const BYTES_MAX = 256 * 1024
const FIELDS = 7
const HEADER = "# Netscape HTTP Cookie File"
const HEADER_PATTERN = /^#(?: Netscape)? HTTP Cookie File/
/** A mark of browsers for cookies that no script sees; it is part of no domain. */
const HTTP_ONLY = /^#HttpOnly_/
const EXPECTED = "expected cookies in Netscape's format"

/**
 * What is wrong with a text of cookies in Netscape's format; null where it can be used. It names the
 * number of the line, and never says what stands there.
 */
export function judgeCookies(text: string): string | null {
  if (byteLengthOf(text) > BYTES_MAX) return `expected at most ${BYTES_MAX} bytes`
  const faults = linesOf(text).map(judgeLine)
  const index = faults.findIndex((fault) => fault !== null)
  const fault = faults[index] ?? null
  if (fault !== null) return `${EXPECTED}, and line ${index + 1} is none of it: ${fault}`
  return linesOf(text).some(isCookie) ? null : `${EXPECTED}, and there is no cookie`
}

/** Cookies as tools read them: with their header, and one kind of line end. */
export function tidyCookies(text: string): string {
  const lines = linesOf(text)
  const isHeaded = HEADER_PATTERN.test(lines[0] ?? "")
  return [...(isHeaded ? [] : [HEADER]), ...lines, ""].join("\n")
}

function linesOf(text: string): string[] {
  return text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)
}

function isCookie(line: string): boolean {
  return line.trim() !== "" && (HTTP_ONLY.test(line) || !line.startsWith("#"))
}

function judgeLine(line: string): string | null {
  if (!isCookie(line)) return null
  const fields = line.replace(HTTP_ONLY, "").split("\t")
  if (fields.length !== FIELDS) {
    return `it has ${fields.length} fields, and a cookie has ${FIELDS}, separated by tabs`
  }
  if (fields.some((field) => /[\p{Cc}]/u.test(field))) return "it has a control character"
  const [domain = "", isForAll = "", path = "", isSecure = "", expires = ""] = fields
  if (domain === "") return "its domain, the first field, is empty"
  if (isForAll !== (domain.startsWith(".") ? "TRUE" : "FALSE")) {
    return "its second field says whether the first begins with a dot, by TRUE or FALSE"
  }
  if (!path.startsWith("/")) return "its path, the third field, does not begin with a slash"
  if (!/^(?:TRUE|FALSE)$/.test(isSecure)) return "its fourth field is neither TRUE nor FALSE"
  return /^\d*(?:\.\d+)?$/.test(expires)
    ? null
    : "its fifth field, the time of its end, is no number"
}
