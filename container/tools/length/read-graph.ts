/** Values of a filter: those that are named, and the others in their order. */
export type FilterValues = { named: ReadonlyMap<string, string>; plain: readonly string[] }

/** A filter of a graph, with the labels that stand before it and behind it. */
export type GraphFilter = { name: string; values: FilterValues; from: string[]; to: string[] }

/** Longer graphs are not read. */
const GRAPH_LENGTH_MAX = 10_000
const FILTER = /^([A-Za-z]\w*)(?:@\w*)?\s*(?:=([^]*))?$/

/** Reads the chains of a filter graph; null where it is none that can be read. */
export function readGraph(text: string): GraphFilter[][] | null {
  if (text.length > GRAPH_LENGTH_MAX) return null
  const chains: GraphFilter[][] = []
  for (const chain of splitOutside(text, ";")) {
    if (chain.trim() === "" || /^\s*sws_flags=/.test(chain)) continue
    const filters = splitOutside(chain, ",").map((filter) => readFilter(filter.trim()))
    if (filters.includes(null)) return null
    chains.push(filters.filter((filter) => filter !== null))
  }
  return chains
}

/** The value of an option: by one of its names, or by its place among those without. */
export function valueOf(values: FilterValues, names: string, place?: number): string | undefined {
  const named = names.split(" ").flatMap((name) => values.named.get(name) ?? [])
  return named[0] ?? (place === undefined ? undefined : values.plain[place])
}

function readFilter(text: string): GraphFilter | null {
  const [before = ""] = /^(?:\[[^[\]]*\]\s*)*/.exec(text) ?? []
  const behind = labelsBehind(text)
  const body = text.slice(before.length, behind).trim()
  const [, name, written = ""] = FILTER.exec(body) ?? []
  if (name === undefined) return null
  const values = readValues(unquote(written))
  return { name, values, from: labelsOf(before), to: labelsOf(text.slice(behind)) }
}

/** Where the labels at the end of a filter begin. */
function labelsBehind(text: string): number {
  let end = text.length
  for (;;) {
    const trimmed = text.slice(0, end).trimEnd()
    const begin = trimmed.endsWith("]") ? trimmed.lastIndexOf("[") : -1
    if (begin < 0 || trimmed.slice(begin, -1).includes("]")) return end
    end = begin
  }
}

function readValues(text: string): FilterValues {
  const named = new Map<string, string>()
  const plain: string[] = []
  for (const part of text === "" ? [] : splitOutside(text, ":")) {
    const [, name, value = ""] = /^\s*([A-Za-z_]\w*)\s*=([^]*)$/.exec(part) ?? []
    if (name === undefined) plain.push(unquote(part).trim())
    else named.set(name, unquote(value).trim())
  }
  return { named, plain }
}

function labelsOf(text: string): string[] {
  return Array.from(text.matchAll(/\[([^[\]]*)\]/g), ([, label = ""]) => label.trim())
}

/** Splits at a character that is neither quoted nor escaped. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === "'") isQuoted = !isQuoted
    else if (character === "\\" && !isQuoted) at += 1
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  return [...parts, text.slice(begin)]
}

/** Takes one level of quotes and escapes from a text. */
function unquote(text: string): string {
  return text.replace(/'([^']*)'|\\([^])/g, (_, quoted?: string, escaped?: string) => {
    return quoted ?? escaped ?? ""
  })
}
