import { lastValue, readCommand } from "../../contract/command-line.ts"
import type { ReadCommand } from "../../contract/command-line.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { shown } from "../hint-table.ts"
import { findLineHint, keyOf, lineOf, namedKeys } from "./line.ts"
import type { LineHint, Written } from "./line.ts"

/** Inputs that ffmpeg cannot open, and maps that it cannot read, whatever the rest of the command says. */
const FAILING: readonly LineHint[] = [
  [
    /(?<= -i )(\{\{\w+\}\})[,;+&|\uE000]+(\{\{\w+\}\})(?= )/,
    "`$&` is no single file; write `-i $1 -i $2`",
  ],
  [/(?<= -i )[[(<]?(\{\{\w+\}\})[\])>,;:](?= )/, "`$&` is no single file; write `-i $1`"],
  [
    /(?<=^(?:(?! -(?:f|pattern_type) ).)* -i )(?:[^ %*]*\*[^ %]*|%\d(?:\.\w+)?)(?= )/,
    "-i: `$&`: no shell reads this, and so no file is called that; write -i and a key for each input, as `-i $in`",
    "unknown_key",
  ],
  [
    /(?<= -map )(?:\{\{\w+\}\}|in_\w+)((?::\S*)?)(?= )/,
    "-map: `$&`: streams are named by the place of their input, from 0; write `-map 0$1`",
    "stream_not_found",
  ],
]

/** The refusal of files that ffmpeg surely fails on, of a command that nothing else refuses. */
export function failingFiles(written: Written): Refusal[] {
  const found =
    missingInput(readCommand(written.words), written) ??
    findLineHint(lineOf(written.words), FAILING, "name_not_allowed", { named: namedKeys(written) })
  return found ? [found] : []
}

/** The refusal of inputs and outputs that are missing, misplaced, or named by a word that is no key. */
export function explainFiles(written: Written, refused: readonly Refusal[]): Refusal[] {
  const command = readCommand(written.words)
  const [failing] = failingFiles(written)
  const found =
    failing ??
    missingOutput(command, written, refused) ??
    misplacedInput(command, written) ??
    plainOutput(command, written, refused)
  return found ? [found] : []
}

function missingInput({ files }: ReadCommand, written: Written): Refusal | null {
  const [first] = files
  if (first === undefined || files.some(({ kind }) => kind !== "output")) return null
  const isMade = files.some(({ word, options }) => {
    if (/\.ffmeta$/i.test(word)) return true
    return options.some(({ name, value }) => {
      return name === "f"
        ? /^(?:ffmetadata|fifo|tee)$/i.test(value ?? "")
        : /^(?:filter_complex|lavfi|attach)$/.test(name)
    })
  })
  if (isMade) return null
  const { word } = first
  const isInput = written.inputKeys.includes(keyOf(word)) || lastValue(first, "f") === "lavfi"
  const input = shown(`-i ${isInput ? word : namedKeys(written)["in"]}`)
  const isAlone = files.length === 1 || written.outputKeys.includes(keyOf(word))
  const message = isAlone
    ? `the command reads no input; write ${input} before the output`
    : `${shown(word)} stands without -i, and so it is taken for an output; write ${input} instead`
  return { code: "missing_value", option: "-i", message }
}

function missingOutput(
  { files, trailing }: ReadCommand,
  written: Written,
  refused: readonly Refusal[],
): Refusal | null {
  if (refused.every(({ code }) => code !== "no_output")) return null
  if (written.outputKeys.length === 0 || trailing.some(({ value }) => value !== null)) return null
  const { in: input, out } = namedKeys(written)
  const message =
    files.length > 0
      ? `the command has no output; end it with \`${out}\``
      : `the command reads and writes nothing; write \`ffmpeg -i ${input} ${out}\``
  return { code: "no_output", message }
}

/** An input in the place of an output, and maybe an output behind -i. */
function misplacedInput({ files }: ReadCommand, written: Written): Refusal | null {
  const { inputKeys, outputKeys, terms } = written
  const made = files.find(({ kind, word }) => kind === "output" && inputKeys.includes(keyOf(word)))
  const read = files.find(({ kind, word }) => kind === "input" && outputKeys.includes(keyOf(word)))
  if (!made) return null
  const input = shown(made.word)
  if (read) {
    const message = `${shown(read.word)} is an output and ${input} is an input; write ${shown(`-i ${made.word}`)}, and ${shown(read.word)} at the end`
    return { code: "overwrites_input", option: "-i", message }
  }
  const end =
    outputKeys.length === 0
      ? terms.nameOutput
      : `end the command with \`${namedKeys(written)["out"]}\` instead`
  const message =
    made === files.at(-1)
      ? `${input} is an input, and no input is written over; ${end}`
      : `${input} is an input and stands without -i; write ${shown(`-i ${made.word}`)}`
  return { code: "overwrites_input", message }
}

/** A name of the caller's own at the end that cannot be one, where no word names an output. */
function plainOutput(
  { files }: ReadCommand,
  written: Written,
  refused: readonly Refusal[],
): Refusal | null {
  const { words, outputKeys, terms } = written
  const last = files.at(-1)
  const said = refused.find(({ option }) => option === undefined)
  if (last?.kind !== "output" || outputKeys.length === 0 || !said) return null
  if (last.word === "/dev/null" || /[{}]/.test(last.word)) return null
  const isNamed = outputKeys.some((key) => {
    return words.some((word) => word === key || word.includes(`{{${key}}}`))
  })
  if (isNamed) return null
  const message = `${shown(last.word)} is none of the outputs; write \`${namedKeys(written)["out"]}\` here${terms.nameItsFile}`
  return { code: said.code, message }
}
