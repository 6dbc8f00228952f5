import {
  findFilePositions,
  findFileNamesInFilterGraph,
  findFilterGraphWordIndexes,
} from "../../ffmpeg/file-keys.ts"

/** Text in a command, such as a URI, that stands for a file, and the key of that file. */
export type FileLiteral = { text: string; key: string }

/** Characters that may follow the value of an option in a filter graph. */
const VALUE_ENDS = ":,;[]"
/** Pattern of escaped characters in filter graphs. */
const ESCAPED = /\\+([:,;=[\]'\\])/g

/**
 * Replaces texts that stand for files by placeholders of the files' keys, in positions of file
 * names and in `concat:a|b`. If a text is a prefix of another, the longer text has precedence.
 */
export function replaceFileLiterals(
  words: readonly string[],
  literals: readonly FileLiteral[],
): string[] {
  const whole = new Map(literals.toReversed().map(({ text, key }) => [text, `{{${key}}}`]))
  const longestFirst = [...whole].toSorted(([one], [other]) => other.length - one.length)
  const graphs = findFilterGraphWordIndexes(words)
  const files = new Set(findFilePositions(words).map(({ index }) => index))
  return words.map((word, index) => {
    if (graphs.has(index)) return nameInGraph(word, longestFirst)
    if (!files.has(index)) return word
    return whole.get(word) ?? (words[index - 1] === "-i" ? nameInList(word, whole) : word)
  })
}

function nameInList(word: string, whole: ReadonlyMap<string, string>): string {
  const parts = /^concat:(.+)$/s.exec(word)?.[1]?.split("|")
  return parts ? `concat:${parts.map((part) => whole.get(part) ?? part).join("|")}` : word
}

/**
 * Range of a filter graph that a placeholder may replace. `from` is the index of its first
 * character, and `to` is the index after its last character.
 */
type Match = { from: number; to: number; placeholder: string }

function nameInGraph(graph: string, literals: readonly (readonly [string, string])[]): string {
  const matches = findValues(graph, literals)
  // A URI may contain characters that end the value of a filter option. Therefore all found URIs
  // are first replaced by placeholders, before the graph is parsed for file names.
  const named = replace(graph, matches)
  const files = new Set(findFileNamesInFilterGraph(named.text).map(({ from }) => from))
  return replace(
    graph,
    matches.filter((_, index) => files.has(named.places[index] ?? -1)),
  ).text
}

/**
 * Replaces parts of a filter graph by placeholders. `places` has the index of each placeholder in
 * the new text.
 */
function replace(graph: string, matches: readonly Match[]): { text: string; places: number[] } {
  const places: number[] = []
  let text = ""
  let copied = 0
  for (const { from, to, placeholder } of matches) {
    text += graph.slice(copied, from)
    places.push(text.length)
    text += placeholder
    copied = to
  }
  return { text: text + graph.slice(copied), places }
}

/**
 * Finds the complete values of filter options that are texts in place of a file name, such as URIs.
 */
function findValues(graph: string, literals: readonly (readonly [string, string])[]): Match[] {
  const plain = withoutEscapes(graph)
  const matches: Match[] = []
  for (let at = plain.text.indexOf("="); at >= 0; at = plain.text.indexOf("=", at)) {
    at += 1
    const quote = plain.text.charAt(at) === "'" ? "'" : ""
    const begin = at + quote.length
    const found = literals.find(([text]) => isValue(plain.text, begin, text, quote))
    if (!found) continue
    const [text, placeholder] = found
    const end = begin + text.length
    matches.push({ from: plain.placeOf(begin), to: plain.placeOf(end), placeholder })
    at = end
  }
  return matches
}

/**
 * Reports whether an option value that begins at the index `begin` of a filter graph is the text.
 */
function isValue(graph: string, begin: number, text: string, quote: string): boolean {
  // Compares a slice, because that is a single memory comparison. `startsWith` would compare single
  // characters.
  if (graph.slice(begin, begin + text.length) !== text) return false
  const behind = graph.slice(begin + text.length, begin + text.length + quote.length + 1)
  if (!behind.startsWith(quote)) return false
  const next = behind.slice(quote.length)
  return next === "" || VALUE_ENDS.includes(next)
}

/**
 * Removes backslashes before escaped characters of a filter graph. `placeOf` converts an index in
 * the result to an index in the original graph.
 */
function withoutEscapes(graph: string): { text: string; placeOf: (at: number) => number } {
  const places: number[] = []
  let text = ""
  let copied = 0
  function copy(from: number, to: number) {
    text += graph.slice(from, to)
    for (let at = from; at < to; at += 1) places.push(at)
  }
  for (const escape of graph.matchAll(ESCAPED)) {
    const end = escape.index + escape[0].length
    copy(copied, escape.index)
    copy(end - 1, end)
    copied = end
  }
  copy(copied, graph.length)
  return { text, placeOf: (at) => places[at] ?? graph.length }
}
