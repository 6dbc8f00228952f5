import { isWritten, readCommand } from "../../contract/command-line.ts"
import { PLACEHOLDER } from "../../contract/tasks/command.ts"
import type { CommandFault } from "../command/fault-codes.ts"
import { namedKeys } from "../command/keys.ts"
import { checkOutputName } from "../command/output-names.ts"
import { quote } from "../command/policy/refusal.ts"
import type { ScriptOutput } from "../command/script.ts"

export const OUTPUT_KEY = "out_1"
const PLACED = `{{${OUTPUT_KEY}}}`

/** A command whose output has its place, if it keeps one, or what keeps it from having one. */
export type FoundOutput = {
  words: string[]
  output: ScriptOutput | null
  fault: CommandFault | null
}

/**
 * Finds the output of a command whose inputs are keys: the one of the given name, which stands last
 * where the command does not name it, or else the last plain word.
 */
export function findOutput(words: string[], given: string | undefined): FoundOutput {
  const isNamed = namedKeys(words, new Set([OUTPUT_KEY])).known.has(OUTPUT_KEY)
  const { files, lacking } = readCommand(words)
  const written = files.filter(isWritten).map(({ word }) => word)
  if (given === undefined) {
    if (isNamed) return withoutName(words)
    const hasOutput = files.some(({ kind }) => kind === "output")
    const isForLog = hasOutput && written.length === 0
    return isForLog ? { words, output: null, fault: null } : byLastWord(words, written)
  }
  const output = { key: OUTPUT_KEY, name: given, field: "output_filename" }
  const other = written.at(-1)
  if (isNamed) return { words, output, fault: null }
  if (other !== undefined) return { words, output, fault: twoNames(other, given) }
  // Behind an option that lacks its value, it would be that value.
  if (lacking !== null) return { words, output: null, fault: null }
  return { words: [...words, PLACED], output, fault: null }
}

function withoutName(words: string[]): FoundOutput {
  const message = `give it, since its extension says what ${OUTPUT_KEY} is to be, as in output.mp4`
  const output = { key: OUTPUT_KEY, name: OUTPUT_KEY, field: "output_filename" }
  return { words, output, fault: { field: "output_filename", code: "no_output", message } }
}

function byLastWord(words: string[], written: readonly string[]): FoundOutput {
  const name = written.findLast(isPlain)
  if (name === undefined) {
    const message = "give it, or end the command with the output's name, as in output.mp4"
    const fault = { field: "output_filename", code: "no_output" as const, message }
    return { words, output: null, fault }
  }
  const message = checkOutputName(name)
  if (message !== null) {
    return { words, output: null, fault: { field: "command", code: "invalid_name", message } }
  }
  const named = words.with(words.lastIndexOf(name), PLACED)
  return { words: named, output: { key: OUTPUT_KEY, name, field: "command" }, fault: null }
}

/** Whether a word can only be a name, and no key. */
function isPlain(word: string): boolean {
  return !/^(?:in|out)_\w+$/.test(word) && word.search(PLACEHOLDER) < 0 && word !== "ffmpeg"
}

function twoNames(other: string, given: string): CommandFault {
  const message = `the command writes ${quote(other)}, and this is ${quote(given)}: give one of the two names, or write ${PLACED} where the output goes`
  return { field: "output_filename", code: "name_not_allowed", message }
}
