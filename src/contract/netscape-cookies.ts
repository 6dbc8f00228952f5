import { countUtf8Bytes } from "./bundle.ts"

const BYTES_MAX = 256 * 1024
const FIELDS = 7
const HEADER = "# Netscape HTTP Cookie File"
const HEADER_PATTERN = /^#(?: Netscape)? HTTP Cookie File/
/**
 * Prefix of a cookies.txt line for a cookie that scripts cannot read. The prefix is not part of the
 * cookie's domain.
 */
const HTTP_ONLY = /^#HttpOnly_/
const EXPECTED = "expected cookies in Netscape's format"

/**
 * Validates cookies in Netscape's format. Returns null for valid cookies, else an error message
 * with the number of the invalid line. The message never quotes the invalid line, because cookies
 * are secrets.
 */
export function findCookiesProblem(text: string): string | null {
  if (countUtf8Bytes(text) > BYTES_MAX) return `expected at most ${BYTES_MAX} bytes`
  const faults = linesOf(text).map(judgeLine)
  const index = faults.findIndex((fault) => fault !== null)
  const fault = faults[index] ?? null
  if (fault !== null) return `${EXPECTED}; line ${index + 1} is not a cookie: ${fault}`
  return linesOf(text).some(isCookie) ? null : `${EXPECTED}; the text has no cookie`
}

/**
 * Normalizes the text of a cookies.txt for tools: adds the header line and unifies line endings.
 */
export function normalizeCookies(text: string): string {
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
    return `the line has ${fields.length} fields, and a cookie has ${FIELDS}, separated by tabs`
  }
  if (fields.some((field) => /[\p{Cc}]/u.test(field))) return "the line has a control character"
  const [domain = "", isForAll = "", path = "", isSecure = "", expires = ""] = fields
  if (domain === "") return "the first field (domain) is empty"
  if (isForAll !== (domain.startsWith(".") ? "TRUE" : "FALSE")) {
    return "the second field must be TRUE if the domain begins with a dot, otherwise FALSE"
  }
  if (!path.startsWith("/")) return "the third field (path) does not begin with a slash"
  if (!/^(?:TRUE|FALSE)$/.test(isSecure))
    return "the fourth field (secure) is neither TRUE nor FALSE"
  return /^\d*(?:\.\d+)?$/.test(expires) ? null : "the fifth field (expiry) is not a number"
}
