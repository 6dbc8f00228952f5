import { parseFfmpegCommand } from "../../../ffmpeg/command-line.ts"
import { findFilterGraphWordIndexes } from "../../../ffmpeg/file-keys.ts"
import { findGraphRefusals, parseGraphs } from "../facts/check-graphs.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { quoteForMessage } from "../../../hints/hint-table.ts"
import type { CommandText } from "./line.ts"

/**
 * Maximum length of a filter graph to correct, in characters, and maximum number of such graphs in
 * a command. The limits exist because each possible correction is parsed as a graph.
 */
const GRAPH_LENGTH_MAX = 2000
const TRIED_MAX = 4

/**
 * Common mistakes in filter graphs: the broken rule, a pattern and its replacement. Messages show
 * the first replacement that makes the graph valid.
 */
const CORRECTIONS: readonly (readonly [rule: string, pattern: RegExp, replacement: string])[] = [
  [
    "a comma within an expression ends the filter unless it is in quotes",
    /(?<=[=:])([^=:,;'"\\[\]()]*\((?:[^()'"\\]|\([^()'"\\]*\))*\)[^=:,;'"\\[\]]*)/g,
    "'$1'",
  ],
  [
    "the graph has the value of a filter, but no filter name",
    /^(\d+) ?[:x*] ?(\d+)$/i,
    "scale=$1:$2",
  ],
  [
    "the graph has the value of a filter, but no filter name",
    /^(?=(?:w|h|width|height)=)/,
    "scale=",
  ],
  ["a graph contains filters, not options", /^(?:-[vaf]\w* |(?:vf|af|filter)=)/, ""],
  [
    "an equals sign joins a filter and its values",
    /(^|[,;\]]) ?(\w+)(?: ?: ?| |==)(?=[\d.+-])/g,
    "$1$2=",
  ],
  [
    "an equals sign joins a filter and its values, and a colon joins values",
    /(^|[,;\]]) ?(\w+)\(([^(),]+),([^(),]+)\)/g,
    "$1$2=$3:$4",
  ],
  [
    "a colon joins the values of a filter",
    / ?[,;] ?(?=[\d.]+(?:[,;:]|$)|\w+=[\w.]+(?:[,;:]|$))/g,
    ":",
  ],
  ["a comma joins filters", /(?: ?(?:\||\+|&|->|;) ?| )(?=\w+(?:[=,; |+]|$))/g, ","],
  ["double quotes do not quote within a graph", /"/g, "'"],
  ["a text with , or : needs single quotes", /(?<=\btext=)([^'":]*,[^'":]*)(?=:\w+=|$)/g, "'$1'"],
]

/**
 * Returns refusals of filter graphs that have a common mistake. Each refusal shows the corrected
 * graph.
 */
export function findGraphMistakeRefusals(
  text: CommandText,
  refusals: readonly CommandRefusal[],
): CommandRefusal[] {
  const { words, raws } = text
  const graphOptions = new Set(
    refusals.map(({ code, option }) => (code === "filter_error" ? option : "")),
  )
  const places = [...findFilterGraphWordIndexes(words)].filter((at) =>
    graphOptions.has(words[at - 1] ?? " "),
  )
  return places.slice(0, TRIED_MAX).flatMap((at) => {
    const option = words[at - 1] ?? ""
    const graph = words[at] ?? ""
    const remedy =
      quoteGraph(option, raws[at] ?? "", text) ?? describeGraphCorrection(option, graph, text)
    return remedy === null
      ? []
      : [{ code: "filter_error", option, message: `${option}: ${remedy}` }]
  })
}

/**
 * Returns the remedy for an unquoted graph whose inner quotes and backslashes were removed when the
 * command was split into words: double quotes around the whole graph. Returns null unless the graph
 * is valid with these quotes and backslashes.
 */
function quoteGraph(option: string, raw: string, text: CommandText): string | null {
  if (raw.length > GRAPH_LENGTH_MAX || !/['\\]/.test(raw) || /^["']/.test(raw)) return null
  const graph = raw.replace(/\\(?=[()[\]"$ ])/g, "")
  if (!isValidGraph(option, graph, text)) return null
  return `splitting into words removes the quotes and backslashes within the graph, as in a shell; put the whole graph in double quotes: ${quoteForMessage(`${option} "${graph}"`)}`
}

/**
 * Describes the rule that a graph breaks, and shows the corrected graph. Returns null if no
 * correction makes the graph valid.
 */
export function describeGraphCorrection(
  option: string,
  graph: string,
  text: CommandText,
): string | null {
  if (graph.length > GRAPH_LENGTH_MAX) return null
  const plain = graph.replace(/\s+/g, " ")
  for (const [rule, pattern, replacement] of CORRECTIONS) {
    const corrected = plain.replace(pattern, replacement)
    if (corrected === plain || !isValidGraph(option, corrected, text)) continue
    const isPlain = /^[\w=:.,+-]+$/.test(corrected)
    return `${rule}; write ${quoteForMessage(`${option} ${isPlain ? corrected : `"${corrected}"`}`)}`
  }
  return null
}

function isValidGraph(
  option: string,
  graph: string,
  { words, capabilities }: CommandText,
): boolean {
  if (!capabilities) return false
  const maps = words.flatMap((word, index) => (words[index - 1] === "-map" ? ["-map", word] : []))
  const command = parseFfmpegCommand([option, graph, ...maps, "x.mp4"])
  return !findGraphRefusals(command, parseGraphs(command), capabilities).some(
    (refusal) => refusal.option === option,
  )
}
