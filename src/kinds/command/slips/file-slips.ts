import { lastValue, readCommand } from "../../../contract/command-line.ts"
import type { ReadCommand } from "../../../contract/command-line.ts"
import type { Refusal } from "../policy/refusal.ts"
import { keyOf, placed, shown } from "./written.ts"
import type { Written } from "./written.ts"

/** Several keys, or one with a mark or in brackets. */
const KEYS_AND_MARKS = /^(?:\{\{\w+\}\}(?:[,;:]|[ ,;+&|]+\{\{.*)|[[(<]\{\{\w+\}\}[\])>])$/

type Finder = (
  command: ReadCommand,
  written: Written,
  refused: readonly Refusal[],
) => Refusal | null

/** Inputs and outputs that are missing, in each other's place, or named by what is no key. */
export function explainFiles(written: Written, refused: readonly Refusal[]): Refusal[] {
  const command = readCommand(written.words)
  const finders: Finder[] = [
    joinedInputs,
    lackOfInput,
    lackOfOutput,
    exchange,
    writtenInput,
    plainOutput,
  ]
  for (const find of finders) {
    const found = find(command, written, refused)
    if (found) return [found]
  }
  return []
}

/** A source of lavfi that is read as if it were a file. */
export function explainSources(written: Written): Refusal[] {
  const found = plainSource(readCommand(written.words), written)
  return found ? [found] : []
}

/** What certainly fails of the files of a command that is not refused otherwise. */
export function failingFiles(written: Written): Refusal[] {
  const command = readCommand(written.words)
  const found =
    lackOfInput(command, written) ??
    joinedInputs(command) ??
    wildcard(command, written) ??
    keyAsStream(command, written)
  return found ? [found] : []
}

/** A command that names no input, and so makes nothing. */
function lackOfInput({ files }: ReadCommand, written: Written): Refusal | null {
  const options = files.flatMap((file) => file.options)
  const [first, ...others] = files
  if (first === undefined || files.some(({ kind }) => kind !== "output")) return null
  if (options.some(({ name }) => /^(?:filter_complex|lavfi|attach)$/.test(name))) return null
  if (files.some((file) => /^(?:ffmetadata|fifo|tee)$/i.test(lastValue(file, "f") ?? "")))
    return null
  const { word } = first
  if (/\.ffmeta$/i.test(word)) return null
  const isLost = others.length === 0 || isOutput(word, written)
  const named =
    isInput(word, written) || isSource(word, written)
      ? word
      : `{{${written.inputKeys[0] ?? "in_1"}}}`
  const what = isLost
    ? "the command reads no input"
    : `${shown(word)} stands without -i, and so it is taken for an output`
  const where = isLost ? "before the output" : "instead"
  const message = `${what}; write ${shown(`-i ${named}`)} ${where}`
  return { code: "missing_value", option: "-i", message }
}

/** A source of lavfi behind -i, without the format that reads it. */
function plainSource({ files }: ReadCommand, written: Written): Refusal | null {
  const file = files.find((each) => {
    return each.kind === "input" && lastValue(each, "f") === null && isSource(each.word, written)
  })
  if (!file) return null
  const message = `-i: ${shown(file.word)} is a filter that makes its own picture or sound; write ${shown(`-f lavfi -i ${file.word}`)}`
  return { code: "unknown_key", option: "-i", message }
}

function isSource(word: string, { known }: Written): boolean {
  const name = /^(\w+)(?:=|$)/.exec(word)?.[1]
  const entry = name === undefined ? null : known?.find("filters", name)
  return entry?.meta.split(" ").at(-1)?.startsWith("|>") ?? false
}

/** An input's key in the place of its number, as in `-map {{in_1}}:v`. */
function keyAsStream({ files }: ReadCommand, { words, inputKeys }: Written): Refusal | null {
  const inputs = files.filter(({ kind }) => kind === "input").map(({ word }) => keyOf(word))
  const keys = inputKeys.flatMap((key) => [`{{${key}}}`, key])
  const value = words.find((word, index) => {
    return words[index - 1] === "-map" && keys.includes(word.split(":", 1)[0] ?? "")
  })
  if (value === undefined) return null
  const [key = "", ...rest] = value.split(":")
  const stream = [Math.max(0, inputs.indexOf(keyOf(key))), ...rest].join(":")
  const message = `-map: ${shown(value)}: streams are named by the place of their input, from 0; write ${shown(`-map ${stream}`)}`
  return { code: "stream_not_found", option: "-map", message }
}

function lackOfOutput(
  { files, trailing }: ReadCommand,
  written: Written,
  refused: readonly Refusal[],
): Refusal | null {
  if (refused.every(({ code }) => code !== "no_output")) return null
  const end = placed(written.outputKeys, "out_1")
  if (written.outputKeys.length === 0 || trailing.some(({ value }) => value !== null)) return null
  const message =
    files.length > 0
      ? `the command has no output; end it with ${end}`
      : `the command reads and writes nothing; write ${shown(`ffmpeg -i {{${written.inputKeys[0] ?? "in_1"}}} {{${written.outputKeys[0] ?? "out_1"}}}`)}`
  return { code: "no_output", message }
}

/** Keys that do not stand alone. */
function joinedInputs({ files }: ReadCommand): Refusal | null {
  const file = files.find(({ word }) => KEYS_AND_MARKS.test(word))
  if (!file) return null
  const keys = file.word.match(/\{\{\w+\}\}/g) ?? []
  const sign = file.kind === "input" ? "-i " : ""
  const instead = keys.map((key) => `${sign}${key}`).join(" ")
  const message = `${shown(file.word)} is no single file; write ${shown(instead)}`
  return { code: "name_not_allowed", ...(sign && { option: "-i" }), message }
}

/** An output behind -i, and an input at the end. */
function exchange({ files }: ReadCommand, written: Written): Refusal | null {
  const read = files.find(({ kind, word }) => kind === "input" && isOutput(word, written))
  const made = files.find(({ kind, word }) => kind === "output" && isInput(word, written))
  if (!read || !made) return null
  const message = `${shown(read.word)} is an output and ${shown(made.word)} is an input; write ${shown(`-i ${made.word}`)}, and ${shown(read.word)} at the end`
  return { code: "overwrites_input", option: "-i", message }
}

/** An input in the place of an output. */
function writtenInput({ files }: ReadCommand, written: Written): Refusal | null {
  const place = files.findIndex(({ kind, word }) => kind === "output" && isInput(word, written))
  const word = files[place]?.word
  if (word === undefined) return null
  const { outputKeys, terms } = written
  const end =
    outputKeys.length === 0
      ? terms.nameOutput
      : `end the command with ${placed(outputKeys, "out_1")} instead`
  const message =
    place === files.length - 1
      ? `${shown(word)} is an input, and no input is written over; ${end}`
      : `${shown(word)} is an input and stands without -i; write ${shown(`-i ${word}`)}`
  return { code: "overwrites_input", message }
}

/** A name of the writer's own at the end, that cannot be one, where no word names an output. */
function plainOutput(
  { files }: ReadCommand,
  written: Written,
  refused: readonly Refusal[],
): Refusal | null {
  const { words, outputKeys, terms } = written
  const last = files.at(-1)
  if (last?.kind !== "output" || outputKeys.length === 0) return null
  if (words.some((word) => keysIn(word).some((key) => outputKeys.includes(key)))) return null
  const said = refused.find(({ option }) => option === undefined)
  if (!said || last.word === "/dev/null" || /[{}]/.test(last.word)) return null
  const message = `${shown(last.word)} is none of the outputs; write ${placed(outputKeys, "out_1")} here${terms.nameItsFile}`
  return { code: said.code, message }
}

/** A pattern of names, or a variable, that only a shell would read. */
function wildcard({ files }: ReadCommand, { inputKeys }: Written): Refusal | null {
  const input = files.find((file) => {
    const isPattern = file.kind === "input" && /^[^%]*\*[^%]*$|^%\d(?:\.\w+)?$/.test(file.word)
    return isPattern && file.options.every(({ name }) => name !== "f" && name !== "pattern_type")
  })
  if (!input) return null
  const message = `-i: ${shown(input.word)}: no shell reads this, and so no file is called that; write -i and a key for each input, as ${shown(`-i {{${inputKeys[0] ?? "in_1"}}}`)}`
  return { code: "unknown_key", option: "-i", message }
}

function keysIn(word: string): string[] {
  return [keyOf(word), ...Array.from(word.matchAll(/\{\{([^{}]+)\}\}/g), ([, key = ""]) => key)]
}

function isInput(word: string, { inputKeys }: Written): boolean {
  return inputKeys.includes(keyOf(word))
}

function isOutput(word: string, { outputKeys }: Written): boolean {
  return outputKeys.includes(keyOf(word))
}
