import { readCommand } from "../../../contract/command-line.ts"
import { muxersOf } from "../facts/codecs.ts"
import { kindOfOption } from "../policy/options.ts"
import type { Refusal } from "../policy/refusal.ts"
import { keyOf, placed, shown } from "./written.ts"
import type { Written } from "./written.ts"

const UNIT =
  /^(?:[kKMG]|[kKM]?(?:bps|bit|bits|B)|[kKM]b|[kKM]bit|dB|db|fps|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|px|%)$/

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

function describe(place: number, written: Written): Refusal {
  const { words, raws, outputKeys } = written
  const word = words[place] ?? ""
  const before = words[place - 1] ?? ""
  const option = words[place - 2] ?? ""
  const kind = kindOfOption(nameOf(option))
  const unit = UNIT.test(word) && /\d$/.test(before) ? unitOf(word) : null
  if (/^-[a-z]/i.test(before) && before !== "-i") {
    const message = `${shown(before)} stands alone, and takes no value; leave out ${shown(word)}`
    return { code: "invalid_option", option: before, message }
  }
  if (unit !== null) {
    const message = `${shown(`${before} ${word}`)} is two words; write \`${option} ${before}${unit}\``
    return { code: "invalid_option", option, message }
  }
  if (/^-[a-z]/i.test(option) && kind === "graph") {
    const graph = words.slice(place - 1, endOfGraph(place, written)).join(" ")
    const message = `${shown(word)} is cut off from the graph of ${shown(option)} by the space before it; put the whole graph into double quotes: ${shown(`${option} "${graph.replaceAll('"', "'")}"`)}`
    return { code: "filter_error", option, message }
  }
  if (/^-[a-z]/i.test(option) && kind === "text") {
    const value = raws.slice(place - 1, endOfGraph(place, written)).join(" ")
    const quoted = /^([\w:-]+=)(.+)$/s.exec(value)
    const [, name = "", text = value] = quoted ?? []
    const message = `${shown(word)} is cut off from the value of ${shown(option)} by a space; put that into double quotes: ${shown(`${option} ${name}"${text}"`)}`
    return { code: "invalid_option", option, message }
  }
  const end = placed(outputKeys, "out_1")
  const message = `${shown(word)} is no value of the option before it, and so it is taken for an output; leave it out, or put its option before it, and end the command with ${end}`
  return { code: "name_not_allowed", message }
}

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
])

/** A unit as it stands behind a number for ffmpeg, which needs none for most. */
function unitOf(word: string): string {
  return UNITS.get(word.toLowerCase()) ?? word
}

function nameOf(word: string): string {
  return word.slice(1).split(":", 1)[0] ?? ""
}

/** The place of the next option, or of the output that ends the command. */
function endOfGraph(from: number, { words, outputKeys }: Written): number {
  const end = words.findIndex((word, index) => {
    return index >= from && (/^-[a-z]/i.test(word) || outputKeys.includes(keyOf(word)))
  })
  return end < 0 ? words.length : end
}
