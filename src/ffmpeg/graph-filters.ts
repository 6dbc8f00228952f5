import { parseOptionPairs, readGraphToken, skipSpaces } from "./graph-tokens.ts"
import type { PositionedOption } from "./graph-tokens.ts"
import { findPositionalOptionName } from "./policy/filters.ts"

/**
 * Filter in a filter graph: the name without `@instance`, and the options (unescaped twice). `from`
 * is the index in the graph at which the options begin.
 */
export type GraphFilter = { name: string; options: PositionedOption[]; from: number }

/** Characters that end the options of a filter in a filter graph. */
export const FILTER_OPTION_TERMINATORS = "[],;"

/**
 * Parses the filters of a filter graph in the same way as ffmpeg. Skips text that ffmpeg would
 * refuse.
 */
export function parseGraphFilters(text: string): GraphFilter[] {
  const filters: GraphFilter[] = []
  let at = skipSpaces(text, 0)
  if (text.startsWith("sws_flags=", at)) at = indexOrEnd(text, ";", at)
  while (at < text.length) {
    at = skipLabels(text, at)
    const name = readGraphToken(text, at, "=,;[")
    at = name.at
    const from = at + 1
    let options: PositionedOption[] = []
    if (text.charAt(at) === "=") {
      const optionText = readGraphToken(text, from, FILTER_OPTION_TERMINATORS)
      options = parseOptionPairs(optionText.token, ":")
      at = optionText.at
    }
    if (name.token !== "") filters.push({ name: name.token.split("@")[0] ?? "", options, from })
    at = skipLabels(text, at)
    if (at < text.length) at = skipSpaces(text, at + 1)
  }
  return filters
}

/**
 * Returns the options of a filter. Adds the option name to each positional value whose name is
 * known.
 */
export function resolveOptionNames({ name: filter, options }: GraphFilter): PositionedOption[] {
  return options.map((pair, position) => {
    return { ...pair, name: pair.name ?? findPositionalOptionName(filter, position) }
  })
}

function skipLabels(text: string, from: number): number {
  let at = skipSpaces(text, from)
  while (text.charAt(at) === "[") at = skipSpaces(text, readGraphToken(text, at + 1, "]").at + 1)
  return at
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? text.length : index
}
