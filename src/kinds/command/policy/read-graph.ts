import { readPairs, readToken, skipSpaces } from "./tokens.ts"
import type { Pair } from "./tokens.ts"

/** A filter of a graph: its name without `@instance`, and its options unescaped twice. */
export type GraphFilter = { name: string; options: Pair[] }

/** The filters of a graph as ffmpeg's own parser finds them; what it would not accept is skipped. */
export function readGraph(text: string): GraphFilter[] {
  const filters: GraphFilter[] = []
  let at = skipSpaces(text, 0)
  if (text.startsWith("sws_flags=", at)) at = indexOrEnd(text, ";", at)
  while (at < text.length) {
    at = skipLabels(text, at)
    const name = readToken(text, at, "=,;[")
    at = name.at
    let options: Pair[] = []
    if (text.charAt(at) === "=") {
      const given = readToken(text, at + 1, "[],;")
      options = readPairs(given.token, ":")
      at = given.at
    }
    if (name.token !== "") filters.push({ name: name.token.split("@")[0] ?? "", options })
    at = skipLabels(text, at)
    if (at < text.length) at = skipSpaces(text, at + 1)
  }
  return filters
}

function skipLabels(text: string, from: number): number {
  let at = skipSpaces(text, from)
  while (text.charAt(at) === "[") at = skipSpaces(text, readToken(text, at + 1, "]").at + 1)
  return at
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? text.length : index
}
