import { readCommand } from "../../../contract/command-line.ts"
import { isFilterArgument } from "../../../contract/tasks/command.ts"
import { checkGraphs, graphsOf } from "../facts/check-graphs.ts"
import type { Known } from "../facts/known.ts"
import type { Refusal } from "../policy/refusal.ts"
import { shown } from "./written.ts"
import type { Written } from "./written.ts"

/** Longer graphs, and more of them, are told as they are: each mend is read as a graph of its own. */
const MENDED_LENGTH_MAX = 2000
const TRIED_MAX = 4

type Mend = { why: string; mend: (graph: string, known: Known) => string }

/** What people write in graphs, and what they mean: the first that makes a graph right is told. */
const MENDS: readonly Mend[] = [
  {
    why: "a comma within an expression ends the filter unless quotes are around it",
    mend: (graph) => (/['"\\]/.test(graph) ? graph : quoteCommas(graph)),
  },
  {
    why: "this names the value of a filter, and no filter",
    mend: (graph) => {
      return /^\d+ ?[:x*] ?\d+$/i.test(graph)
        ? `scale=${graph.replace(/ ?[x*:] ?/i, ":")}`
        : graph.replace(/^(?=(?:w|h|width|height)=)/, "scale=").replace(/^(?:vf|af|filter)=/, "")
    },
  },
  { why: "a graph holds no options", mend: (graph) => graph.replace(/^-[vaf]\w* /, "") },
  {
    why: "a filter and its values are joined by =",
    mend: (graph, known) =>
      graph.replace(
        /(^|[,;\]]) ?(\w+)(?: ?: ?| |==)(?=[\w.+-])/g,
        (all, before: string, name: string) => {
          return known.names("filters").has(name) ? `${before}${name}=` : all
        },
      ),
  },
  {
    why: "a filter and its values are joined by =, and values by :",
    mend: (graph, known) =>
      graph.replace(/\b(\w+)\(([^()]*)\)/g, (all, name: string, values: string) => {
        return known.names("filters").has(name) ? `${name}=${values.replace(/ ?, ?/g, ":")}` : all
      }),
  },
  {
    why: "values of one filter are joined by :",
    mend: (graph, known) => joinValues(graph, / ?[,;] ?/g, known),
  },
  {
    why: "values of one filter are joined by :",
    mend: (graph, known) => joinValues(graph, / (?=\w+=)| ?[,;] ?/g, known),
  },
  {
    why: "filters are joined by a comma",
    mend: (graph, known) =>
      graph.replace(/(?: ?(?:\||\+|&|->|;) ?| )(?=(\w+)(?:[=,; |+]|$))/g, (all, name: string) => {
        return known.names("filters").has(name) ? "," : all
      }),
  },
  {
    why: "double quotes are letters within a graph",
    mend: (graph) => graph.replaceAll('"', "'"),
  },
  {
    why: "a text with , or : stands in single quotes",
    mend: (graph) => graph.replace(/(?<=\btext=)([^'":]*,[^'":]*)(?=:\w+=|$)/g, "'$1'"),
  },
]

/** Puts quotes around values of filters that have a comma between parentheses. */
function quoteCommas(graph: string): string {
  return graph.replace(
    /(?<=[=:])[^=:,;'[\]()]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[^=:,;'[\]]*/g,
    (value) => {
      return value.includes(",") ? `'${value}'` : value
    },
  )
}

/** Joins what a comma or a space keeps apart from the filter before it, where it is no filter itself. */
function joinValues(graph: string, marks: RegExp, known: Known): string {
  return graph.replace(marks, (mark, ...more) => {
    const at = more.findLast((each) => typeof each === "number") ?? 0
    const name = /^\w+/.exec(graph.slice(at + mark.length))?.[0] ?? ""
    const before = graph.slice(0, at)
    // Commas between parentheses are of an expression.
    if (before.split("(").length !== before.split(")").length) return mark
    const isFilter = known.names("filters").has(name) && !/^[wh]$/.test(name)
    return isFilter || name === "" ? mark : ":"
  })
}

/** Graphs that are right once a usual slip is mended: sentences by the option that has the graph. */
export function explainGraphs(written: Written, refused: readonly Refusal[]): Refusal[] {
  const { words, raws, known } = written
  const wrong = new Set(
    refused.flatMap(({ code, option }) => (code === "filter_error" ? option : [])),
  )
  if (!known || wrong.size === 0) return []
  let tried = 0
  return words.flatMap((word, index) => {
    const option = words[index - 1] ?? ""
    if (tried > TRIED_MAX || !wrong.has(option) || !isFilterArgument(words, index)) return []
    tried += 1
    const found =
      mendQuotes({ option, raw: raws[index] ?? "" }, written) ??
      mendGraph({ option, graph: word }, written)
    return found === null
      ? []
      : [{ code: "filter_error" as const, option, message: `${option}: ${found}` }]
  })
}

/** A graph that falls apart without the quotes that were taken off. */
function mendQuotes(
  { option, raw }: { option: string; raw: string },
  written: Written,
): string | null {
  if (raw.length > MENDED_LENGTH_MAX || !/['\\]/.test(raw) || /^["']/.test(raw)) return null
  const kept = raw.replace(/\\(?=[()[\]"$ ])/g, "")
  if (!isRight(option, kept, written)) return null
  return `the quotes and backslashes within the graph are taken off, as a shell does, and what they held falls apart; put the whole graph into double quotes: ${shown(`${option} "${kept}"`)}`
}

/** A graph as it was meant, where that can be told: half a sentence. */
export function mendGraph(
  { option, graph }: { option: string; graph: string },
  written: Written,
): string | null {
  const { known } = written
  if (!known || graph.length > MENDED_LENGTH_MAX) return null
  const plain = graph.replace(/\s+/g, " ")
  for (const { why, mend } of MENDS) {
    const mended = mend(plain, known)
    if (mended === plain || !isRight(option, mended, written)) continue
    const isPlain = /^[\w=:.,+-]+$/.test(mended)
    return `${why}; write ${shown(`${option} ${isPlain ? mended : `"${mended}"`}`)}`
  }
  return null
}

function isRight(option: string, graph: string, { words, known }: Written): boolean {
  if (!known) return false
  const maps = words.flatMap((word, index) => (words[index - 1] === "-map" ? ["-map", word] : []))
  const alone = readCommand([option, graph, ...maps, "x.mp4"])
  return !checkGraphs(alone, graphsOf(alone), known).some((refusal) => refusal.option === option)
}
