import { bundleKindOf, byteLengthOf, fillFields, fitsPattern } from "../../contract/bundle.ts"
import { inputName } from "../../contract/task.ts"
import type { Fault } from "../../faults.ts"
import type { FoundInput } from "../kind.ts"
import type { CommandFault } from "./fault-codes.ts"
import { judgeLines } from "./lines.ts"
import type { CommandPart } from "./request.ts"
import { judgeSeeks } from "./seeks.ts"

/** Faults that say nothing where the maps of keys cannot be read. */
const FAULTS_OF_KEYS = new Set(["unknown_key", "unused_output"])

/** Begins so that it is no option, ends so that it keeps its extension. */
const NAME_PATTERN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M} ._()+@-]{0,198}[\p{L}\p{N}\p{M}_)])?$/u
const NAME_BYTES_MAX = 240
/** A number and a variant are enough for every muxer. */
const FIELDS_MAX = 2

/** Everything wrong with what a request does: names of outputs, commands, and where they seek. */
export function judgeCommand(
  request: CommandPart,
  inputs: FoundInput[],
  malformed: ReadonlySet<string> = new Set(),
): Fault[] {
  const names = workspaceNames(request.input_files, inputs)
  const guessed = new Set(inputs.flatMap(({ key, source }) => (source ? [key] : [])))
  const misnamed = judgeOutputs(request, names, guessed)
  const keyNames = { inputs: names, guessed, outputs: usableNames(request, misnamed) }
  const lines = judgeLines(request, keyNames)
  const faults = [...misnamed, ...lines, ...judgeSeeks(request, keyNames, inputs)]
  if (!malformed.has("input_files") && !malformed.has("output_files")) return faults
  return faults.filter(({ code }) => !FAULTS_OF_KEYS.has(code))
}

/**
 * The names of inputs in the workspace by key; an input that cannot be looked up has the name that
 * a file without an extension would have. That of one that is to be brought in is a guess by its URL:
 * any extension may come of it.
 */
export function workspaceNames(
  inputFiles: Record<string, unknown>,
  inputs: FoundInput[],
): Map<string, string> {
  const fileNames = new Map(
    inputs.map(({ key, file, source }) => [key, file?.name ?? source?.name ?? ""]),
  )
  return new Map(
    Object.keys(inputFiles).map((key) => [key, inputName(key, fileNames.get(key) ?? "")] as const),
  )
}

/** Names of outputs by key; one that is refused already is not judged a second time in commands. */
function usableNames({ output_files }: CommandPart, misnamed: CommandFault[]): Map<string, string> {
  const refused = new Set(misnamed.map(({ field }) => field))
  return new Map(
    Object.entries(output_files).map(([key, name]) => [
      key,
      refused.has(`output_files.${key}`) ? key : name,
    ]),
  )
}

/**
 * What is wrong with the names of outputs and keys; `inputs` are names in the workspace by key, those
 * of `guessed` without their extension.
 */
function judgeOutputs(
  request: CommandPart,
  inputs: ReadonlyMap<string, string>,
  guessed: ReadonlySet<string>,
): CommandFault[] {
  const taken = new Set(inputs.values())
  return Object.entries(request.output_files).flatMap(([key, name]): CommandFault[] => {
    const field = `output_files.${key}`
    if (Object.hasOwn(request.input_files, key)) {
      return [{ field, code: "name_taken", message: `"${key}" is the key of an input too` }]
    }
    const message = checkName(name)
    if (message !== null) return [{ field, code: "invalid_name", message }]
    const possible = [...guessed].map((input) => inputName(input, name))
    const clash = [...taken, ...possible].find((other) => areOneFile(name, other))
    taken.add(name)
    if (clash === undefined) return []
    return [
      { field, code: "name_taken", message: `another file of this command is called ${clash}` },
    ]
  })
}

function checkName(name: string): string | null {
  if (/[/\\]/.test(name)) return "expected a file name without a folder"
  const filled = fillFields(name)
  if (filled.name.includes("%")) {
    return "expected %d or %03d for a number, %v for a variant and %% for a percent sign"
  }
  if (filled.count === 0 && name.includes("%")) {
    return "expected no percent sign in a name without %d or %v"
  }
  if (filled.count > FIELDS_MAX) return `expected at most ${FIELDS_MAX} of %d and %v in a name`
  if (NAME_PATTERN.test(filled.name) && byteLengthOf(name) <= NAME_BYTES_MAX) return null
  return "expected a file name of letters, digits, spaces and . _ - ( ) + @ that begins with a letter, a digit or an underscore, up to 200 characters"
}

/** Whether two names are, or may become, the same. */
function areOneFile(name: string, other: string): boolean {
  if (name === other) return true
  return (
    (bundleKindOf(name) === "series" && fitsPattern(name, other)) ||
    (bundleKindOf(other) === "series" && fitsPattern(other, name))
  )
}
