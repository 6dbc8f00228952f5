import { readCommand } from "../../contract/command-line.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { quote } from "../../kinds/command/policy/refusal.ts"
import { shown } from "../hint-table.ts"
import { explainFiles } from "./files.ts"
import { explainGraphs } from "./graphs.ts"
import { findLineHint, lineOf, namedKeys } from "./line.ts"
import type { Written } from "./line.ts"
import { explainOptions } from "./options.ts"
import { explainStrays } from "./strays.ts"
import { checkWords, SHELL_WORDS, SUBSTITUTIONS } from "./words.ts"

/** Refusals of a command; `isGarbled` where its words are not the files and options that were meant. */
export type Explained = { refusals: Refusal[]; isGarbled: boolean }

/** A key that no field declares, which has a fault of its own. */
const UNKNOWN_KEY = /"\{\{[^{}]+\}\}"/
const OF_SHAPE = new Set<Refusal["code"]>(["trailing_option", "missing_value", "no_output"])

/** Puts the mistake at the root of a command's refusals in the place of those that follow from it. */
export function explain(written: Written, refused: readonly Refusal[]): Explained {
  const wrong = checkWords(written.words)
  if (wrong.length > 0) return { refusals: wrong, isGarbled: true }
  const ofShell = explainShell(written)
  if (ofShell) return { refusals: [ofShell], isGarbled: true }
  for (const find of [explainOptions, explainFiles, explainStrays]) {
    const found = find(written, refused)
    if (found.length === 0) continue
    return { refusals: inPlace(found, refused), isGarbled: true }
  }
  // The word behind -i of a device is the name of the device.
  const isDevice = refused.some(({ code }) => code === "format_not_allowed")
  const graphs = explainGraphs(written, refused)
  const corrected = new Set(graphs.map(({ option }) => option))
  const others = refused.filter(({ code, option, message }) => {
    if (code === "filter_error") return !corrected.has(option)
    if (code !== "name_not_allowed") return true
    return !UNKNOWN_KEY.test(message) && !(isDevice && option === "-i")
  })
  return {
    refusals: [...graphs, ...others].map((each) => withBackslashes(each, written)),
    isGarbled: false,
  }
}

/** The first word that only a shell reads, or that a text editor made: all behind it follows from that. */
function explainShell(written: Written): Refusal | null {
  const line = lineOf(written.words)
  const named = namedKeys(written)
  const words = readCommand(written.words).files.map(({ word }) => word)
  return (
    findLineHint(line, SUBSTITUTIONS, "value_not_allowed", { named }) ??
    findLineHint(line, SHELL_WORDS, "name_not_allowed", { named, words })
  )
}

/** Mistakes in the place of the first refusal that follows from them, without those refusals. */
function inPlace(found: readonly Refusal[], refused: readonly Refusal[]): Refusal[] {
  const explained = new Set(found.map(({ option }) => option))
  // Without -i before the input, its format is one of an output.
  if (explained.has("-i")) explained.add("-f")
  const others = refused.map((refusal) => {
    const { code, option } = refusal
    return option === undefined || explained.has(option) || OF_SHAPE.has(code) ? null : refusal
  })
  return others
    .toSpliced(Math.max(0, others.indexOf(null)), 0, ...found)
    .filter((each) => each !== null)
}

/** A refusal that shows a path with the backslashes that a shell takes off. */
function withBackslashes(refusal: Refusal, { words, raws }: Written): Refusal {
  const place = words.findIndex((word, index) => {
    return raws[index]?.includes("\\") && refusal.message.includes(quote(word))
  })
  const [word, raw] = [words[place], raws[place]]
  if (word === undefined || raw === undefined) return refusal
  const path = shown(raw.replace(/^(["'])(.*)\1$/, "$2"))
  return { ...refusal, message: refusal.message.replace(quote(word), () => path) }
}
