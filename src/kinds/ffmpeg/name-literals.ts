import { isFilterArgument } from "../../contract/tasks/command.ts"

/** A text that stands in a command for the file of a key. */
export type Literal = { text: string; key: string }

/** What may stand behind a value of a filter's option. */
const VALUE_ENDS = ":,;[]"
/** What is escaped in graphs. */
const ESCAPED = /\\+([:,;=[\]'\\])/g

/**
 * Puts placeholders of keys in the place of texts that stand for their files, where a bare key may
 * stand: as a whole word, as a whole option value of a filter argument, as a part of `concat:a|b`.
 * Where one begins as another does, the longer one is meant.
 */
export function nameLiterals(words: readonly string[], literals: readonly Literal[]): string[] {
  const whole = new Map(literals.toReversed().map(({ text, key }) => [text, `{{${key}}}`]))
  const longestFirst = [...whole].toSorted(([one], [other]) => other.length - one.length)
  return words.map((word, index) => {
    const named = whole.get(word)
    if (named !== undefined) return named
    if (isFilterArgument(words, index)) return nameInGraph(word, longestFirst)
    return words[index - 1] === "-i" ? nameInList(word, whole) : word
  })
}

function nameInList(word: string, whole: ReadonlyMap<string, string>): string {
  const parts = /^concat:(.+)$/s.exec(word)?.[1]?.split("|")
  return parts ? `concat:${parts.map((part) => whole.get(part) ?? part).join("|")}` : word
}

function nameInGraph(graph: string, literals: readonly (readonly [string, string])[]): string {
  const plain = withoutEscapes(graph)
  let named = ""
  let copied = 0
  for (let at = plain.text.indexOf("="); at >= 0; at = plain.text.indexOf("=", at)) {
    at += 1
    const quote = plain.text.charAt(at) === "'" ? "'" : ""
    const begin = at + quote.length
    const found = literals.find(([text]) => isValue(plain.text, begin, text, quote))
    if (!found) continue
    const [text, placeholder] = found
    const end = begin + text.length
    named += graph.slice(copied, plain.placeOf(begin)) + placeholder
    copied = plain.placeOf(end)
    at = end
  }
  return named + graph.slice(copied)
}

/** Whether the whole value that begins here is this text. */
function isValue(graph: string, begin: number, text: string, quote: string): boolean {
  // An equal slice is found by one comparison of memory; `startsWith` takes each character by itself.
  if (graph.slice(begin, begin + text.length) !== text) return false
  const behind = graph.slice(begin + text.length, begin + text.length + quote.length + 1)
  if (!behind.startsWith(quote)) return false
  const next = behind.slice(quote.length)
  return next === "" || VALUE_ENDS.includes(next)
}

/** A graph without its backslashes before what is escaped, and where each place of it was. */
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
