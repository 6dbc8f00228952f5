import { readLine } from "../command/lines.ts"
import type { Script, ScriptOutput } from "../command/script.ts"
import type { CommandFault } from "../command/fault-codes.ts"
import { findOutput, OUTPUT_KEY } from "./find-output.ts"
import { nameLiterals } from "./name-literals.ts"
import type { UsableFfmpeg } from "./request.ts"
import { FFMPEG_TERMS } from "./terms.ts"

/** What of a request says what its command does. */
export type FfmpegPart = Pick<UsableFfmpeg, "inputs"> & {
  command?: string | null | undefined
  output_filename?: string | null | undefined
}

/** A request as its command is judged and run: with keys in the place of all that stands for files. */
export type ReadFfmpeg = {
  script: Script
  /** The words of the command, and its output; null where it keeps none, or there is a fault. */
  words: string[]
  output: ScriptOutput | null
  /** Why the output cannot be known. */
  outputFault: CommandFault | null
}

/** The key of an input by its place in `inputs`, from 0. */
export function inputKey(place: number): string {
  return `in_${place + 1}`
}

/** The field of the input of a key. */
export function inputField(key: string): string {
  return `inputs.${Number(key.slice("in_".length)) - 1}`
}

/** Reads a request into a command whose inputs and output are named by keys. */
export function readRequest({ inputs, command, output_filename }: FfmpegPart): ReadFfmpeg {
  const given = output_filename ?? undefined
  const line = readLine({ field: "command", text: command ?? "", mayOmitProgram: true })
  const inputKeys = inputs.map((_, place) => inputKey(place))
  if ("error" in line) {
    const outputs = given === undefined ? [] : [outputOf(given)]
    const script = { inputKeys, outputs, lines: [line], terms: FFMPEG_TERMS }
    return { script, words: [], output: null, outputFault: null }
  }
  const { words, output, fault } = findOutput(nameFiles(line.words, inputs, given), given)
  const script = {
    inputKeys,
    outputs: output ? [output] : [],
    lines: [{ ...line, words }],
    terms: FFMPEG_TERMS,
  }
  return { script, words, output, outputFault: fault }
}

function outputOf(name: string): ScriptOutput {
  return { key: OUTPUT_KEY, name, field: "output_filename" }
}

/** Words with keys in the place of URIs and of the output's name, which is never read. */
function nameFiles(
  words: readonly string[],
  inputs: UsableFfmpeg["inputs"],
  outputName: string | undefined,
): string[] {
  const uris = inputs.flatMap((text, place) => (text ? [{ text, key: inputKey(place) }] : []))
  const read = nameLiterals(words, uris)
  if (outputName === undefined) return read
  const written = nameLiterals(read, [{ text: outputName, key: OUTPUT_KEY }])
  return written.map((word, index) => (read[index - 1] === "-i" ? (read[index] ?? word) : word))
}
