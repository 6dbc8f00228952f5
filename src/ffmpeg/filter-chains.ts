import { parseOptionPairs, readGraphToken, skipSpaces } from "./graph-tokens.ts"
import type { OptionPair } from "./graph-tokens.ts"

/** Filter in a filter chain, with the labels of its inputs and outputs. */
export type ChainFilter = {
  name: string
  /**
   * Options of the filter in two forms: `text` is the whole string, unescaped once; `options` is
   * the parsed list, unescaped twice.
   */
  text: string
  options: OptionPair[]
  inputs: string[]
  outputs: string[]
}

/** Filter chains of a filter graph, or the parse error as a clause of a sentence. */
export type FilterChainsResult = { chains: ChainFilter[][] } | { error: string }

/** Parses a filter graph as ffmpeg does; stops at the first error. */
export function parseFilterChains(text: string): FilterChainsResult {
  const chains: ChainFilter[][] = [[]]
  let at = skipSpaces(text, 0)
  if (text.startsWith("sws_flags=", at)) {
    const end = text.indexOf(";", at)
    at = end < 0 ? text.length : end + 1
  }
  while (at < text.length) {
    const inputs = readLabels(text, at)
    if ("error" in inputs) return inputs
    const name = readGraphToken(text, inputs.at, "=,;[")
    at = name.at
    let options = ""
    if (text.charAt(at) === "=") {
      const value = readGraphToken(text, at + 1, "[],;")
      options = value.token
      at = value.at
    }
    const outputs = readLabels(text, at)
    if ("error" in outputs) return outputs
    at = outputs.at
    const filter = {
      name: name.token.split("@")[0] ?? "",
      text: options,
      options: options === "" ? [] : parseOptionPairs(options, ":"),
      inputs: inputs.labels,
      outputs: outputs.labels,
    }
    if (filter.name === "") return { error: describeGap(text, at) }
    chains.at(-1)?.push(filter)
    const next = text.charAt(at)
    if (next !== "" && next !== "," && next !== ";") {
      return {
        error: `"${text.slice(at, at + 20)}" follows a filter; write , or ; between filters`,
      }
    }
    if (next === ";") chains.push([])
    at = skipSpaces(text, at + 1)
  }
  return { chains: chains.filter((chain) => chain.length > 0) }
}

function describeGap(text: string, at: number): string {
  if (text.trim() === "") return "the graph is empty; write a filter, or leave the option out"
  const near = text.slice(Math.max(0, at - 20), at)
  const gap = near === "" ? "the graph begins without a filter" : `no filter follows "${near}"`
  return `${gap}; remove the extra comma or semicolon`
}

function readLabels(
  text: string,
  from: number,
): { labels: string[]; at: number } | { error: string } {
  const labels: string[] = []
  let at = skipSpaces(text, from)
  while (text.charAt(at) === "[") {
    const { token, at: end } = readGraphToken(text, at + 1, "]")
    if (text.charAt(end) !== "]") {
      return {
        error: `the [ of "${text.slice(at, at + 20)}" is never closed; write ] after the label`,
      }
    }
    if (token === "") return { error: "a label is empty; write a name between [ and ]" }
    labels.push(token)
    at = skipSpaces(text, end + 1)
  }
  return { labels, at }
}
