import { readCommand } from "../../contract/command-line.ts"
import { isFilterArgument } from "../../contract/tasks/command.ts"
import { checkGraphs, graphsOf } from "../../kinds/command/facts/check-graphs.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { shown } from "../hint-table.ts"
import type { Written } from "./line.ts"

/** Longer graphs, and more of them, get no remedy: each corrected graph is read as a graph of its own. */
const GRAPH_LENGTH_MAX = 2000
const TRIED_MAX = 4

/** Common mistakes in graphs: the rule, the pattern, and its replacement. The first right graph is told. */
const CORRECTIONS: readonly (readonly [rule: string, looks: RegExp, right: string])[] = [
  [
    "a comma within an expression ends the filter unless quotes are around it",
    /(?<=[=:])([^=:,;'"\\[\]()]*\((?:[^()'"\\]|\([^()'"\\]*\))*\)[^=:,;'"\\[\]]*)/g,
    "'$1'",
  ],
  ["this names the value of a filter, and no filter", /^(\d+) ?[:x*] ?(\d+)$/i, "scale=$1:$2"],
  ["this names the value of a filter, and no filter", /^(?=(?:w|h|width|height)=)/, "scale="],
  ["a graph holds no options", /^(?:-[vaf]\w* |(?:vf|af|filter)=)/, ""],
  [
    "a filter and its values are joined by =",
    /(^|[,;\]]) ?(\w+)(?: ?: ?| |==)(?=[\d.+-])/g,
    "$1$2=",
  ],
  [
    "a filter and its values are joined by =, and values by :",
    /(^|[,;\]]) ?(\w+)\(([^(),]+),([^(),]+)\)/g,
    "$1$2=$3:$4",
  ],
  [
    "values of one filter are joined by :",
    / ?[,;] ?(?=[\d.]+(?:[,;:]|$)|\w+=[\w.]+(?:[,;:]|$))/g,
    ":",
  ],
  ["filters are joined by a comma", /(?: ?(?:\||\+|&|->|;) ?| )(?=\w+(?:[=,; |+]|$))/g, ","],
  ["double quotes are letters within a graph", /"/g, "'"],
  [
    "a text with , or : stands in single quotes",
    /(?<=\btext=)([^'":]*,[^'":]*)(?=:\w+=|$)/g,
    "'$1'",
  ],
]

/** Refusals of graphs that a common mistake made wrong, with the right graph. */
export function explainGraphs(written: Written, refused: readonly Refusal[]): Refusal[] {
  const { words, raws } = written
  const wrong = new Set(refused.map(({ code, option }) => (code === "filter_error" ? option : "")))
  const places = words.flatMap((_, at) => {
    return wrong.has(words[at - 1] ?? " ") && isFilterArgument(words, at) ? [at] : []
  })
  return places.slice(0, TRIED_MAX).flatMap((at) => {
    const option = words[at - 1] ?? ""
    const graph = words[at] ?? ""
    const found =
      quoteGraph(option, raws[at] ?? "", written) ?? correctGraph(option, graph, written)
    return found === null ? [] : [{ code: "filter_error", option, message: `${option}: ${found}` }]
  })
}

/** A graph that is right with the quotes that were taken off as a shell does. */
function quoteGraph(option: string, raw: string, written: Written): string | null {
  if (raw.length > GRAPH_LENGTH_MAX || !/['\\]/.test(raw) || /^["']/.test(raw)) return null
  const kept = raw.replace(/\\(?=[()[\]"$ ])/g, "")
  if (!isRight(option, kept, written)) return null
  return `the quotes and backslashes within the graph are taken off, as a shell does, and what they held falls apart; put the whole graph into double quotes: ${shown(`${option} "${kept}"`)}`
}

/** The right graph and the rule that a graph breaks, as half a sentence; null where that cannot be told. */
export function correctGraph(option: string, graph: string, written: Written): string | null {
  if (graph.length > GRAPH_LENGTH_MAX) return null
  const plain = graph.replace(/\s+/g, " ")
  for (const [rule, looks, right] of CORRECTIONS) {
    const corrected = plain.replace(looks, right)
    if (corrected === plain || !isRight(option, corrected, written)) continue
    const isPlain = /^[\w=:.,+-]+$/.test(corrected)
    return `${rule}; write ${shown(`${option} ${isPlain ? corrected : `"${corrected}"`}`)}`
  }
  return null
}

function isRight(option: string, graph: string, { words, known }: Written): boolean {
  if (!known) return false
  const maps = words.flatMap((word, index) => (words[index - 1] === "-map" ? ["-map", word] : []))
  const alone = readCommand([option, graph, ...maps, "x.mp4"])
  return !checkGraphs(alone, graphsOf(alone), known).some((refusal) => refusal.option === option)
}
