import { nameOf, readCommand } from "../../../contract/command-line.ts"
import { muxersOf } from "../facts/codecs.ts"
import { encoderChoices } from "../facts/own-options.ts"
import { kindOfOption } from "../policy/options.ts"
import type { Refusal } from "../policy/refusal.ts"
import { mendGraph } from "./mended-graphs.ts"
import { keyOf, placed, shown } from "./written.ts"
import type { Written } from "./written.ts"

const UNIT =
  /^(?:[kKMG]|[kKM]?(?:bps|bit|bits|B)|[kKM]b|[kKM]bit|[kKM]b(?:it)?\/s|dB|db|fps|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|px|%)$/

/** Words that no option takes for its value, so that they would be outputs. */
export function explainStrayWords(written: Written): Refusal[] {
  const { words, outputKeys, inputKeys, known } = written
  const command = readCommand(words)
  const last = command.files.at(-1)
  const strays = command.files.filter((file) => {
    if (file.kind !== "output" || file.word === "-" || file.word === "/dev/null") return false
    const key = keyOf(file.word)
    if (outputKeys.includes(key) || inputKeys.includes(key)) return false
    if (file.options.some(({ name }) => name === "f")) return false
    const isFile =
      /^[\w./\\~-]+\.\w+$/.test(file.word) && (!known || muxersOf(file, known) !== null)
    return !isFile && !(file === last && isLastName(file.word))
  })
  const [stray] = strays
  if (!stray) return []
  const place = words.indexOf(stray.word)
  const { code, message, option } = describe(place, written)
  return [{ code, message, ...(option && { option }) }]
}

/** Whether a word at the end may be meant as the name of an output. */
function isLastName(word: string): boolean {
  return /^[\w.{}/\\~:-]+$/.test(word) && !/^\d/.test(word) && !UNIT.test(word)
}

/** What is wrong with a word, by the first of these that can tell. */
function describe(place: number, written: Written): Refusal {
  const stray = {
    word: written.words[place] ?? "",
    before: written.words[place - 1] ?? "",
    option: written.words[place - 2] ?? "",
    place,
  }
  return (
    behindFlag(stray) ??
    cutNumber(stray) ??
    cutName(stray) ??
    cutGraph(stray, written) ??
    cutText(stray, written) ??
    lonely(stray, written)
  )
}

/** A word, the two before it, and its place. */
type Stray = { word: string; before: string; option: string; place: number }

function behindFlag({ word, before }: Stray): Refusal | null {
  if (!isOption(before) || before === "-i") return null
  const message = `${shown(before)} stands alone, and takes no value; leave out ${shown(word)}`
  return { code: "invalid_option", option: before, message }
}

function cutNumber({ word, before, option }: Stray): Refusal | null {
  if (!isOption(option) || !/\d$/.test(before)) return null
  const isSize = option === "-s" && /^\d+$/.test(word)
  if (!isSize && !UNIT.test(word)) return null
  const isTime = /^-(?:ss|t|to|sseof|itsoffset)$/.test(option) && /^\d+$/.test(before)
  const seconds = isTime ? SECONDS.get(word.charAt(0).toLowerCase()) : undefined
  const unit = UNITS.get(word.toLowerCase()) ?? word
  const joined = seconds === undefined ? `${before}${unit}` : String(Number(before) * seconds)
  const value = isSize ? `${before}x${word}` : joined
  const message = `${shown(`${before} ${word}`)} is two words; write \`${option} ${value}\``
  return { code: "invalid_option", option, message }
}

/** A name or a specifier in two words, as `ultra fast` and `-c v`. */
function cutName({ word, before, option }: Stray): Refusal | null {
  const joined = `${before}${word}`
  if (encoderChoices("libx264", nameOf(option))?.includes(joined)) {
    const message = `${shown(`${before} ${word}`)} is two words; write \`${option} ${joined}\``
    return { code: "invalid_option", option, message }
  }
  if (option === "-map" && /^\[.+\]$|^\d+(?::|$)/.test(word)) {
    const value = word.startsWith("[") ? `"${word}"` : word
    const message = `${shown(word)} stands without its -map; write ${shown(`-map ${value}`)}`
    return { code: "invalid_option", option, message }
  }
  if (!/^-(?:c|codec|b|q|r|filter|profile|frames)$/.test(option) || !/^[vas]$/.test(before))
    return null
  const message = `${shown(`${option} ${before}`)} is two words; write ${shown(`${option}:${before} ${word}`)}`
  return { code: "invalid_option", option, message }
}

function cutGraph({ word, option, place }: Stray, written: Written): Refusal | null {
  if (!isOption(option) || kindOfOption(nameOf(option)) !== "graph") return null
  const graph = written.words.slice(place - 1, endOfValue(place, written)).join(" ")
  const mended = mendGraph({ option, graph }, written)
  const message =
    mended === null
      ? `${shown(word)} is cut off from the graph of ${shown(option)} by the space before it; put the whole graph into double quotes: ${shown(`${option} "${graph.replaceAll('"', "'")}"`)}`
      : `${option}: ${mended}`
  return { code: "filter_error", option, message }
}

function cutText({ word, option, place }: Stray, written: Written): Refusal | null {
  if (!isOption(option) || kindOfOption(nameOf(option)) !== "text") return null
  if (/^\w+=./.test(word)) {
    const message = `${shown(word)} stands without its option; write ${shown(`${option} ${written.raws[place] ?? word}`)}`
    return { code: "invalid_option", option, message }
  }
  const value = written.words.slice(place - 1, endOfValue(place, written)).join(" ")
  const [, name = "", text = value] = /^([\w:-]+) ?= ?(.+)$/s.exec(value) ?? []
  const message = `${shown(word)} is cut off from the value of ${shown(option)} by a space; put that into double quotes: ${shown(`${option} ${name}${name && "="}"${text}"`)}`
  return { code: "invalid_option", option, message }
}

function lonely({ word }: Stray, { words, outputKeys }: Written): Refusal {
  const isEnded = outputKeys.includes(keyOf(words.at(-1) ?? ""))
  const end = isEnded ? "" : `, and end the command with ${placed(outputKeys, "out_1")}`
  const instead = /\w\w\w/.test(word)
    ? "leave it out, or write its option before it"
    : "leave it out"
  const message = `${shown(word)} belongs to no option, and so it is taken for an output; ${instead}${end}`
  return { code: "name_not_allowed", message }
}

function isOption(word: string): boolean {
  return /^-[a-z]/i.test(word)
}

/** Seconds of units by their first letter. */
const SECONDS = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
])

/** Letters for units that are written out. */
const UNITS = new Map([
  ["sec", ""],
  ["secs", ""],
  ["s", ""],
  ["second", ""],
  ["seconds", ""],
  ["fps", ""],
  ["px", ""],
  ["kbps", "k"],
  ["db", "dB"],
  ["kbit", "k"],
  ["kb", "k"],
  ["mbps", "M"],
  ["mbit", "M"],
  ["mb", "M"],
  ["kb/s", "k"],
  ["kbit/s", "k"],
  ["mb/s", "M"],
  ["mbit/s", "M"],
])

/** The place of the next option, or of the output that ends the command. */
function endOfValue(from: number, { words, outputKeys }: Written): number {
  const end = words.findIndex((word, index) => {
    return index >= from && (/^-[a-z]/i.test(word) || outputKeys.includes(keyOf(word)))
  })
  return end < 0 ? words.length : end
}
