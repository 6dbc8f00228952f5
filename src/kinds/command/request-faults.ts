import { isKeptOutput, parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import type { Fault } from "../../domain/faults.ts"
import type { ResolvedInput, ValidationContext } from "../kind.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { findComplexityFault } from "./complexity.ts"
import { parseCommandLine } from "./lines.ts"
import type { CommandLine } from "./lines.ts"
import { COMMAND_REMEDIES } from "../../ffmpeg/policy/remedies.ts"
import type { ValidCommandFields } from "./request.ts"
import { findScriptFaults } from "./script-faults.ts"
import type { CommandScript } from "./script.ts"

/**
 * Codes of faults that depend on the declared keys. If `input_files` or `output_files` is
 * malformed, the keys are unknown, and these faults are not reported.
 */
const FAULTS_OF_KEYS = new Set(["unknown_key", "unused_output"])

/**
 * Returns the faults of a command request that its schema cannot find: in output names, in
 * commands, and in `-ss` times past the end of an input.
 */
export function findCommandFaults(
  request: ValidCommandFields,
  inputs: ResolvedInput[],
  malformed: ReadonlySet<string> = new Set(),
  { ffmpeg }: Pick<ValidationContext, "ffmpeg"> = { ffmpeg: null },
): Fault[] {
  const complexity = findComplexityFault(listCommandLines(request))
  if (complexity) return [complexity]
  const script = readCommandScript(request)
  const missingOutput = malformed.has("output_files") ? [] : judgeMissingOutput(script)
  const faults = [
    ...missingOutput,
    ...judgeFields(request),
    ...findScriptFaults(script, inputs, ffmpeg),
  ]
  const areKeysKnown = !malformed.has("input_files") && !malformed.has("output_files")
  if (areKeysKnown && missingOutput.length === 0) return faults
  return faults.filter(({ code }) => !FAULTS_OF_KEYS.has(code))
}

/**
 * Returns the words of each command without the program's name. A command that cannot be split into
 * words gives an empty list.
 */
export function splitCommandsIntoWords(request: ValidCommandFields): string[][] {
  return listCommandLines(request)
    .map(parseCommandLine)
    .map((line) => ("words" in line ? line.words : []))
}

function readCommandScript(request: ValidCommandFields): CommandScript {
  return {
    inputKeys: Object.keys(request.input_files),
    outputs: Object.entries(request.output_files).map(([key, name]) => {
      return { key, name, field: `output_files.${key}` }
    }),
    lines: isReadable(request) ? listCommandLines(request).map(parseCommandLine) : [],
    remedies: COMMAND_REMEDIES,
  }
}

/**
 * Returns the fault of a request without outputs whose last command writes a file. Earlier commands
 * may write intermediate files.
 */
function judgeMissingOutput({ outputs, lines }: CommandScript): CommandFault[] {
  const last = lines.at(-1)
  const isKept = last && "words" in last && parseFfmpegCommand(last.words).files.some(isKeptOutput)
  if (outputs.length > 0 || !isKept) return []
  const message =
    'expected at least one output, such as {"out_1": "out.mp4"}; only a last command that keeps no file, as with -f null -, needs none'
  return [{ field: "output_files", code: "invalid_field", message }]
}

function judgeFields(request: ValidCommandFields): CommandFault[] {
  if (hasWordsAsCommands(request)) {
    const message =
      'each entry is a whole command, but these entries are the words of one; join them, as in `["ffmpeg -i {{in_1}} {{out_1}}"]`'
    return [{ field: "ffmpeg_commands", code: "invalid_field", message }]
  }
  if (hasOneForm(request)) return []
  const message =
    request.ffmpeg_command === undefined
      ? "the request has no command: give `ffmpeg_command`, or several as the array `ffmpeg_commands`"
      : "the request has both `ffmpeg_command` and `ffmpeg_commands`: leave one out"
  return [{ field: "ffmpeg_command", code: "invalid_field", message }]
}

function isReadable(request: ValidCommandFields): boolean {
  return hasOneForm(request) && !hasWordsAsCommands(request)
}

/**
 * Reports whether the caller split one command into words and sent the words as a list of commands.
 */
function hasWordsAsCommands({
  ffmpeg_commands: [first, second] = [],
}: ValidCommandFields): boolean {
  return first?.trim() === "ffmpeg" && second !== undefined
}

function hasOneForm({
  ffmpeg_command: one,
  ffmpeg_commands: several,
}: ValidCommandFields): boolean {
  return (one === undefined) !== (several === undefined)
}

/** Returns the command lines of a request, each with its request field. */
function listCommandLines({
  ffmpeg_command: one,
  ffmpeg_commands: several = [],
}: ValidCommandFields): CommandLine[] {
  if (one !== undefined) return [{ field: "ffmpeg_command", text: one, mayOmitProgram: false }]
  return several.map((text, index) => {
    return { field: `ffmpeg_commands.${index}`, text, mayOmitProgram: true }
  })
}
