import { readPairs, readToken, skipSpaces } from "../policy/tokens.ts"
import type { Pair } from "../policy/tokens.ts"

/** A filter of a chain, with the labels before and behind it. */
export type ChainFilter = {
  name: string
  /** Its options unescaped once, as the graph has them, and twice, as pairs. */
  text: string
  options: Pair[]
  inputs: string[]
  outputs: string[]
}

/** Chains of filters, or why there are none: a sentence's half. */
export type ReadChains = { chains: ChainFilter[][] } | { error: string }

/** Reads a graph as ffmpeg does, to its end or to what no ffmpeg reads. */
export function readChains(text: string): ReadChains {
  const chains: ChainFilter[][] = [[]]
  let at = skipSpaces(text, 0)
  if (text.startsWith("sws_flags=", at)) {
    const end = text.indexOf(";", at)
    at = end < 0 ? text.length : end + 1
  }
  while (at < text.length) {
    const inputs = readLabels(text, at)
    if ("error" in inputs) return inputs
    const name = readToken(text, inputs.at, "=,;[")
    at = name.at
    let options = ""
    if (text.charAt(at) === "=") {
      const given = readToken(text, at + 1, "[],;")
      options = given.token
      at = given.at
    }
    const outputs = readLabels(text, at)
    if ("error" in outputs) return outputs
    at = outputs.at
    const filter = {
      name: name.token.split("@")[0] ?? "",
      text: options,
      options: options === "" ? [] : readPairs(options, ":"),
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
  if (text.trim() === "") return "it is empty; write a filter, or leave the option out"
  const near = text.slice(Math.max(0, at - 20), at)
  return `there is no filter behind "${near}"; leave out the comma or semicolon that is too many`
}

function readLabels(
  text: string,
  from: number,
): { labels: string[]; at: number } | { error: string } {
  const labels: string[] = []
  let at = skipSpaces(text, from)
  while (text.charAt(at) === "[") {
    const { token, at: end } = readToken(text, at + 1, "]")
    if (text.charAt(end) !== "]") {
      return {
        error: `the [ of "${text.slice(at, at + 20)}" is never closed; write ] behind the label`,
      }
    }
    if (token === "") return { error: "a label is empty; write a name between [ and ]" }
    labels.push(token)
    at = skipSpaces(text, end + 1)
  }
  return { labels, at }
}
