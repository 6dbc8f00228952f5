import { isWritten, readCommand } from "../../contract/command-line.ts"
import type { Fault } from "../../faults.ts"
import type { FoundInput, JudgeFacts } from "../kind.ts"
import type { CommandFault } from "./fault-codes.ts"
import { findComplexity } from "./complexity.ts"
import { readLine } from "./lines.ts"
import type { Line } from "./lines.ts"
import { COMMAND_TERMS } from "./policy/terms.ts"
import type { CommandPart } from "./request.ts"
import { judgeScript } from "./judge-script.ts"
import type { Script } from "./script.ts"

/** Faults that say nothing where the maps of keys cannot be read. */
const FAULTS_OF_KEYS = new Set(["unknown_key", "unused_output"])

/** Everything wrong with what a request does: names of outputs, commands, and where they seek. */
export function judgeCommand(
  request: CommandPart,
  inputs: FoundInput[],
  malformed: ReadonlySet<string> = new Set(),
  { ffmpeg }: Pick<JudgeFacts, "ffmpeg"> = { ffmpeg: null },
): Fault[] {
  const complexity = findComplexity(linesOf(request))
  if (complexity) return [complexity]
  const script = scriptOf(request)
  const lacking = malformed.has("output_files") ? [] : judgeLack(script)
  const faults = [...lacking, ...judgeFields(request), ...judgeScript(script, inputs, ffmpeg)]
  const areKeysKnown = !malformed.has("input_files") && !malformed.has("output_files")
  if (areKeysKnown && lacking.length === 0) return faults
  return faults.filter(({ code }) => !FAULTS_OF_KEYS.has(code))
}

/** The words of each command of a request that can be read, without the program's name. */
export function readWords(request: CommandPart): string[][] {
  return linesOf(request)
    .map(readLine)
    .map((line) => ("words" in line ? line.words : []))
}

function scriptOf(request: CommandPart): Script {
  return {
    inputKeys: Object.keys(request.input_files),
    outputs: Object.entries(request.output_files).map(([key, name]) => {
      return { key, name, field: `output_files.${key}` }
    }),
    lines: isReadable(request) ? linesOf(request).map(readLine) : [],
    terms: COMMAND_TERMS,
  }
}

/** No output, though the last command writes a file; what earlier ones write may be for it alone. */
function judgeLack({ outputs, lines }: Script): CommandFault[] {
  const last = lines.at(-1)
  const isKept = last && "words" in last && readCommand(last.words).files.some(isWritten)
  if (outputs.length > 0 || !isKept) return []
  const message =
    'expected at least one output, as {"out_1": "out.mp4"}; only a last command that keeps no file, as by -f null -, needs none'
  return [{ field: "output_files", code: "invalid_field", message }]
}

function judgeFields(request: CommandPart): CommandFault[] {
  if (hasWordsAsCommands(request)) {
    const message =
      'each entry is a whole command, and these are the words of one; join them, as `["ffmpeg -i {{in_1}} {{out_1}}"]`'
    return [{ field: "ffmpeg_commands", code: "invalid_field", message }]
  }
  if (hasOneForm(request)) return []
  const message =
    request.ffmpeg_command === undefined
      ? "there is no command: give `ffmpeg_command`, or several as the array `ffmpeg_commands`"
      : "both `ffmpeg_command` and `ffmpeg_commands` are given: leave one of the two out"
  return [{ field: "ffmpeg_command", code: "invalid_field", message }]
}

function isReadable(request: CommandPart): boolean {
  return hasOneForm(request) && !hasWordsAsCommands(request)
}

/** Whether one command stands in the list of commands, a word an entry. */
function hasWordsAsCommands({ ffmpeg_commands: [first, second] = [] }: CommandPart): boolean {
  return first?.trim() === "ffmpeg" && second !== undefined
}

function hasOneForm({ ffmpeg_command: one, ffmpeg_commands: several }: CommandPart): boolean {
  return (one === undefined) !== (several === undefined)
}

/** The commands of a request with the fields that they stand in. */
function linesOf({ ffmpeg_command: one, ffmpeg_commands: several = [] }: CommandPart): Line[] {
  if (one !== undefined) return [{ field: "ffmpeg_command", text: one, mayOmitProgram: false }]
  return several.map((text, index) => {
    return { field: `ffmpeg_commands.${index}`, text, mayOmitProgram: true }
  })
}
