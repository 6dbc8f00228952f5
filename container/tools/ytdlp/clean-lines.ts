import { stripVTControlCharacters } from "node:util"
import { cleanLines } from "../explain.ts"

const SECRET_LENGTH_MIN = 4
const COOKIE_FIELDS = 7

/** Paths of the machine, in the words of Python and of programs that yt-dlp starts. */
const PATHS = /(?<![\w:/.])\/(?:[\w.@+~-]+\/)+[\w.@+~-]*/g

/** Advice for users of the command line, who a caller is not. */
const ADVICE = [
  /;? ?please report this issue on .*$/i,
  /;? ?see +https:\/\/github\.com\/yt-dlp\/\S+ .*$/i,
  /\.? Use --(?:cookies|username|list-formats).*$/,
  /Confirm you are on the latest version.*$/,
]

/**
 * yt-dlp's lines as a caller may see them: without paths of this machine, the values of cookies and
 * the operator's secrets.
 */
export function cleanPageLines(
  lines: readonly string[],
  { workspace, secrets }: { workspace: string; secrets: readonly string[] },
): string[] {
  const said = stripVTControlCharacters(lines.join("\n"))
  const hidden = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN)
  const text = hidden.reduce((rest, secret) => rest.replaceAll(secret, "***"), said)
  const cleaned = cleanLines(text, workspace).map((line) => {
    const short = ADVICE.reduce((rest, advice) => rest.replace(advice, ""), line)
    return short
      .replace(PATHS, "...")
      .replace(/^(?:ERROR|WARNING): /, "")
      .trim()
  })
  return [...new Set(cleaned)].filter((line) => line !== "")
}

/** The values of cookies in Netscape's format. */
export function cookieValues(cookies: string): string[] {
  return cookies.split(/\r?\n/).flatMap((line) => {
    const fields = line.split("\t")
    const value = fields.length >= COOKIE_FIELDS ? fields[COOKIE_FIELDS - 1] : undefined
    return value === undefined ? [] : [value.trim()]
  })
}
