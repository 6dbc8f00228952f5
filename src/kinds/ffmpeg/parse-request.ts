import { parseCommandLine } from "../command/lines.ts"
import type { CommandScript, ScriptOutput } from "../command/script.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { replaceFileLiterals } from "./name-literals.ts"
import { getInputUrl } from "../private-input.ts"
import type { ValidFfmpegFields } from "./request.ts"
import { FFMPEG_REMEDIES } from "../../ffmpeg/policy/remedies.ts"
import { isKeptOutput, parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import { KEY_PLACEHOLDER } from "../../ffmpeg/file-keys.ts"
import { findFileKeysInCommand } from "../command/keys.ts"
import { findOutputNameError } from "../command/output-names.ts"
import { quoteShortenedValue } from "../../ffmpeg/policy/refusal.ts"

const OUTPUT_KEY = "out_1"
const OUTPUT_PLACEHOLDER = `{{${OUTPUT_KEY}}}`

/**
 * Words of a command with a placeholder for the output, and the output. `output` is null if the
 * command keeps no output. `fault` is the fault of the output; null for a valid output.
 */
type OutputResult = {
  words: string[]
  output: ScriptOutput | null
  fault: CommandFault | null
}

/**
 * Finds the output of a command, in which keys already stand for the inputs. Without `outputName`,
 * the last plain word is the output. With `outputName`, a placeholder is appended unless the
 * command already names the output.
 */
function findOutput(words: string[], outputName: string | undefined): OutputResult {
  const isNamed = findFileKeysInCommand(words, new Set([OUTPUT_KEY])).known.has(OUTPUT_KEY)
  const { files, incompleteOption } = parseFfmpegCommand(words)
  const outputWords = files.filter(isKeptOutput).map(({ word }) => word)
  if (outputName === undefined) {
    if (isNamed) return withoutName(words)
    const hasOutput = files.some(({ kind }) => kind === "output")
    const isForLog = hasOutput && outputWords.length === 0
    return isForLog ? { words, output: null, fault: null } : byLastWord(words, outputWords)
  }
  const output = { key: OUTPUT_KEY, name: outputName, field: "output_filename" }
  const lastOutput = outputWords.at(-1)
  if (isNamed) return { words, output, fault: null }
  if (lastOutput !== undefined) return { words, output, fault: twoNames(lastOutput, outputName) }
  // After an option without its value, ffmpeg would read an appended output as that value.
  if (incompleteOption !== null) return { words, output: null, fault: null }
  return { words: [...words, OUTPUT_PLACEHOLDER], output, fault: null }
}

function withoutName(words: string[]): OutputResult {
  const message = `expected a file name whose extension selects the format of ${OUTPUT_KEY}, as in output.mp4`
  const output = { key: OUTPUT_KEY, name: OUTPUT_KEY, field: "output_filename" }
  return { words, output, fault: { field: "output_filename", code: "no_output", message } }
}

function byLastWord(words: string[], outputWords: readonly string[]): OutputResult {
  const name = outputWords.findLast(isPlain)
  if (name === undefined) {
    const message = "expected a file name here or at the end of the command, as in output.mp4"
    const fault = { field: "output_filename", code: "no_output" as const, message }
    return { words, output: null, fault }
  }
  if (!isUnambiguousFileName(name)) {
    const message =
      "expected a file name of letters, digits, spaces and . _ - ( ) + @ % that begins with a letter, a digit, an underscore or a percent sign; give any other name as output_filename"
    return { words, output: null, fault: { field: "command", code: "invalid_name", message } }
  }
  const wordsWithKey = words.with(words.lastIndexOf(name), OUTPUT_PLACEHOLDER)
  return { words: wordsWithKey, output: { key: OUTPUT_KEY, name, field: "command" }, fault: null }
}

/** Pattern of a file name that cannot be read as an option, a protocol or a list. */
const PLAIN_NAME = /^[\p{L}\p{N}_%][\p{L}\p{N}\p{M} ._()+@%-]*$/u

/** Reports whether a word of a command can only be the name of one file. */
export function isUnambiguousFileName(word: string): boolean {
  return PLAIN_NAME.test(word) && findOutputNameError({ name: word }) === null
}

/** Reports whether a word is plain: neither a key, nor with a placeholder, nor `ffmpeg`. */
function isPlain(word: string): boolean {
  return !/^(?:in|out)_\w+$/.test(word) && word.search(KEY_PLACEHOLDER) < 0 && word !== "ffmpeg"
}

function twoNames(commandName: string, outputName: string): CommandFault {
  const message = `the command writes ${quoteShortenedValue(commandName)}, but output_filename is ${quoteShortenedValue(outputName)}: give only one of the names, or write ${OUTPUT_PLACEHOLDER} for the output`
  return { field: "output_filename", code: "name_not_allowed", message }
}

/** Fields of a request to POST /ffmpeg that define the command, its inputs and its output. */
export type FfmpegFields = Pick<ValidFfmpegFields, "inputs"> & {
  command?: string | null | undefined
  output_filename?: string | null | undefined
}

/** Parsed request to POST /ffmpeg. The words of the command have keys instead of file names. */
export type ParsedFfmpegRequest = {
  script: CommandScript
  /**
   * Words of the command, with keys in place of file names. `output` is null if the command keeps
   * no output or the output has a fault.
   */
  words: string[]
  output: ScriptOutput | null
  /** Fault of the output; null if the output has no fault. */
  outputFault: CommandFault | null
}

/** Returns the key of an input from its position in `inputs`, counted from 0. */
export function makeInputKey(position: number): string {
  return `in_${position + 1}`
}

/** Returns the path of an input's request field from the input's key. */
export function inputFieldPath(key: string): string {
  return `inputs.${Number(key.slice("in_".length)) - 1}`
}

/**
 * Parses a request into a command whose words have keys instead of the names of inputs and output.
 */
export function parseFfmpegRequest({
  inputs,
  command,
  output_filename,
}: FfmpegFields): ParsedFfmpegRequest {
  const outputName = output_filename ?? undefined
  const line = parseCommandLine({ field: "command", text: command ?? "", mayOmitProgram: true })
  const inputKeys = inputs.map((_, place) => makeInputKey(place))
  if ("error" in line) {
    const outputs = outputName === undefined ? [] : [outputOf(outputName)]
    const script = { inputKeys, outputs, lines: [line], remedies: FFMPEG_REMEDIES }
    return { script, words: [], output: null, outputFault: null }
  }
  const { words, output, fault } = findOutput(nameFiles(line.words, inputs, outputName), outputName)
  const script = {
    inputKeys,
    outputs: output ? [output] : [],
    lines: [{ ...line, words }],
    remedies: FFMPEG_REMEDIES,
  }
  return { script, words, output, outputFault: fault }
}

function outputOf(name: string): ScriptOutput {
  return { key: OUTPUT_KEY, name, field: "output_filename" }
}

/**
 * Replaces the URIs of inputs and the name of the output by keys. A word after -i is never replaced
 * as the output.
 */
function nameFiles(
  words: readonly string[],
  inputs: ValidFfmpegFields["inputs"],
  outputName: string | undefined,
): string[] {
  const uris = inputs.flatMap((input, place) => {
    const text = input === null ? "" : getInputUrl(input)
    return text === "" ? [] : [{ text, key: makeInputKey(place) }]
  })
  const withInputs = replaceFileLiterals(words, uris)
  if (outputName === undefined) return withInputs
  const withOutput = replaceFileLiterals(withInputs, [{ text: outputName, key: OUTPUT_KEY }])
  return withOutput.map((word, index) =>
    withInputs[index - 1] === "-i" ? (withInputs[index] ?? word) : word,
  )
}
