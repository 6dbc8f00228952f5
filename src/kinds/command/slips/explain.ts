import type { Refusal } from "../policy/refusal.ts"
import { quote } from "../policy/refusal.ts"
import { checkSlips } from "../policy/slips.ts"
import { explainFiles, explainSources } from "./file-slips.ts"
import { explainGraphs } from "./mended-graphs.ts"
import { explainOptions } from "./option-slips.ts"
import { explainShellWords } from "./shell-words.ts"
import { explainSigns } from "./signs.ts"
import { explainStrayWords } from "./stray-words.ts"
import { shown } from "./written.ts"
import type { Written } from "./written.ts"

/** What is said of a command, and whether it can be split into files and options at all as it is meant. */
export type Explained = { refusals: Refusal[]; isGarbled: boolean }

/** What makes another of each word behind it, so that nothing else is worth saying. */
const WHOLE = [
  ({ words }: Written) => checkSlips(words),
  explainSigns,
  explainShellWords,
  explainSources,
]
/** What takes words for others, so that only what is said of other options holds. */
const PARTS = [explainOptions, explainFiles, explainStrayWords]
/** A key that nobody declared, which is told of as such. */
const UNKNOWN_KEY = /"\{\{[^{}]+\}\}"/
const OF_SHAPE = new Set<Refusal["code"]>(["trailing_option", "missing_value", "no_output"])

/** Puts what is at the root of a command's faults in the place of those that follow from it. */
export function explain(written: Written, refused: readonly Refusal[]): Explained {
  for (const find of WHOLE) {
    const refusals = find(written)
    if (refusals.length > 0) return { refusals, isGarbled: true }
  }
  for (const find of PARTS) {
    const refusals = find(written, refused)
    if (refusals.length === 0) continue
    return { refusals: inPlace(refusals, refused), isGarbled: true }
  }
  // What stands behind -i of a device is its name.
  const isDevice = refused.some(({ code }) => code === "format_not_allowed")
  const graphs = explainGraphs(written, refused)
  const mended = new Set(graphs.map(({ option }) => option))
  const others = refused.filter(({ code, option, message }) => {
    if (code === "name_not_allowed" && UNKNOWN_KEY.test(message)) return false
    if (code === "filter_error" && mended.has(option)) return false
    return !isDevice || code !== "name_not_allowed" || option !== "-i"
  })
  return {
    refusals: [...graphs, ...others].map((each) => asWritten(each, written)),
    isGarbled: false,
  }
}

/** Refusals with others in the place of the first that follows from them. */
function inPlace(found: readonly Refusal[], refused: readonly Refusal[]): Refusal[] {
  const said = new Set(found.map(({ option }) => option))
  // Without its -i, an input's format is one of an output.
  if (said.has("-i")) said.add("-f")
  const place = refused.findIndex(follows)
  const before = Math.max(0, place)
  return [
    ...refused.slice(0, before),
    ...found,
    ...refused.slice(before).filter((each) => !follows(each)),
  ]

  function follows({ code, option }: Refusal): boolean {
    return option === undefined || said.has(option) || OF_SHAPE.has(code)
  }
}

/** A refusal that shows a path with the backslashes that a shell takes off. */
function asWritten(refusal: Refusal, { words, raws }: Written): Refusal {
  const place = words.findIndex((word, index) => {
    return raws[index]?.includes("\\") && refusal.message.includes(quote(word))
  })
  const [word, raw] = [words[place], raws[place]]
  if (word === undefined || raw === undefined) return refusal
  return {
    ...refusal,
    message: refusal.message.replace(quote(word), () => shown(raw.replace(/^(["'])(.*)\1$/, "$2"))),
  }
}
