import { findLastOptionValue, parseFfmpegCommand } from "../../../ffmpeg/command-line.ts"
import type { ParsedCommand } from "../../../ffmpeg/command-line.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { quoteForMessage } from "../../../hints/hint-table.ts"
import {
  findRefusalByLineHints,
  removePlaceholderBraces,
  joinWordsWithSpaces,
  makeExamplePlaceholders,
} from "./line.ts"
import type { LineHint, CommandText } from "./line.ts"

/**
 * Hints for input names that ffmpeg cannot open, and for values of -map that ffmpeg cannot parse.
 */
const UNUSABLE_FILES: readonly LineHint[] = [
  [
    /(?<= -i )(\{\{\w+\}\})[,;+&|\uE000]+(\{\{\w+\}\})(?= )/,
    "`$&` is not a single file; write `-i $1 -i $2`",
  ],
  [/(?<= -i )[[(<]?(\{\{\w+\}\})[\])>,;:](?= )/, "`$&` is not a single file; write `-i $1`"],
  [
    /(?<=^(?:(?! -(?:f|pattern_type) ).)* -i )(?:[^ %*]*\*[^ %]*|%\d(?:\.\w+)?)(?= )/,
    "-i: `$&`: no shell expands this to file names; write -i and a key for each input, as in `-i $in`",
    "unknown_key",
  ],
  [
    /(?<= -map )(?:\{\{\w+\}\}|in_\w+)((?::\S*)?)(?= )/,
    "-map: `$&`: a stream needs the number of its input, from 0; write `-map 0$1`",
    "stream_not_found",
  ],
]

/**
 * Returns a refusal of a missing input, or of a file name with which ffmpeg would certainly fail.
 * This check also applies to commands that no other check refuses.
 */
export function findUnusableFileRefusals(text: CommandText): CommandRefusal[] {
  const refusal =
    missingInput(parseFfmpegCommand(text.words), text) ??
    findRefusalByLineHints(joinWordsWithSpaces(text.words), UNUSABLE_FILES, "name_not_allowed", {
      values: makeExamplePlaceholders(text),
    })
  return refusal ? [refusal] : []
}

/**
 * Returns a refusal of inputs and outputs that are missing, misplaced, or named by an unknown word.
 */
export function findFileMistakeRefusals(
  text: CommandText,
  refusals: readonly CommandRefusal[],
): CommandRefusal[] {
  const command = parseFfmpegCommand(text.words)
  const [failing] = findUnusableFileRefusals(text)
  const refusal =
    failing ??
    missingOutput(command, text, refusals) ??
    misplacedInput(command, text) ??
    plainOutput(command, text, refusals)
  return refusal ? [refusal] : []
}

function missingInput({ files }: ParsedCommand, text: CommandText): CommandRefusal | null {
  const [first] = files
  if (first === undefined || files.some(({ kind }) => kind !== "output")) return null
  const needsNoInput = files.some(({ word, options }) => {
    if (/\.ffmeta$/i.test(word)) return true
    return options.some(({ name, value }) => {
      return name === "f"
        ? /^(?:ffmetadata|fifo|tee)$/i.test(value ?? "")
        : /^(?:filter_complex(?:_script)?|lavfi|\/.+|attach)$/.test(name)
    })
  })
  if (needsNoInput) return null
  const { word } = first
  const isInput =
    text.inputKeys.includes(removePlaceholderBraces(word)) ||
    findLastOptionValue(first, "f") === "lavfi"
  const input = quoteForMessage(`-i ${isInput ? word : makeExamplePlaceholders(text)["in"]}`)
  const isAlone = files.length === 1 || text.outputKeys.includes(removePlaceholderBraces(word))
  const message = isAlone
    ? `the command reads no input; write ${input} before the output`
    : `${quoteForMessage(word)} has no -i before it, so ffmpeg takes it for an output; write ${input} instead`
  return { code: "missing_value", option: "-i", message }
}

function missingOutput(
  { files, trailing }: ParsedCommand,
  text: CommandText,
  refusals: readonly CommandRefusal[],
): CommandRefusal | null {
  if (refusals.every(({ code }) => code !== "no_output")) return null
  if (text.outputKeys.length === 0 || trailing.some(({ value }) => value !== null)) return null
  const { in: input, out } = makeExamplePlaceholders(text)
  const message =
    files.length > 0
      ? `the command has no output; end it with \`${out}\``
      : `the command has no input and no output; write \`ffmpeg -i ${input} ${out}\``
  return { code: "no_output", message }
}

/**
 * Returns a refusal of an input key in the position of an output. If an output key is also in the
 * position of an input, the message explains that the two are swapped.
 */
function misplacedInput({ files }: ParsedCommand, text: CommandText): CommandRefusal | null {
  const { inputKeys, outputKeys, remedies } = text
  const inputAsOutput = files.find(
    ({ kind, word }) => kind === "output" && inputKeys.includes(removePlaceholderBraces(word)),
  )
  const outputAsInput = files.find(
    ({ kind, word }) => kind === "input" && outputKeys.includes(removePlaceholderBraces(word)),
  )
  if (!inputAsOutput) return null
  const input = quoteForMessage(inputAsOutput.word)
  if (outputAsInput) {
    const message = `${quoteForMessage(outputAsInput.word)} is an output and ${input} is an input; write ${quoteForMessage(`-i ${inputAsOutput.word}`)}, and write ${quoteForMessage(outputAsInput.word)} at the end`
    return { code: "overwrites_input", option: "-i", message }
  }
  const end =
    outputKeys.length === 0
      ? remedies.nameOutput
      : `end the command with \`${makeExamplePlaceholders(text)["out"]}\` instead`
  const message =
    inputAsOutput === files.at(-1)
      ? `${input} is an input, and a command cannot overwrite its inputs; ${end}`
      : `${input} is an input without -i before it; write ${quoteForMessage(`-i ${inputAsOutput.word}`)}`
  return { code: "overwrites_input", message }
}

/**
 * Returns a refusal of a command that names none of its output keys, but ends with a plain file
 * name.
 */
function plainOutput(
  { files }: ParsedCommand,
  text: CommandText,
  refusals: readonly CommandRefusal[],
): CommandRefusal | null {
  const { words, outputKeys, remedies } = text
  const last = files.at(-1)
  const refusal = refusals.find(({ option }) => option === undefined)
  if (last?.kind !== "output" || outputKeys.length === 0 || !refusal) return null
  if (last.word === "/dev/null" || /[{}]/.test(last.word)) return null
  const isNamed = outputKeys.some((key) => {
    return words.some((word) => word === key || word.includes(`{{${key}}}`))
  })
  if (isNamed) return null
  const message = `${quoteForMessage(last.word)} is not one of the outputs; write \`${makeExamplePlaceholders(text)["out"]}\` here${remedies.nameItsFile}`
  return { code: refusal.code, message }
}
