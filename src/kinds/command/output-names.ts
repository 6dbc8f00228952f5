import { bundleKindOf, byteLengthOf, fillFields, fitsPattern } from "../../contract/bundle.ts"
import { inputName } from "../../contract/task.ts"
import type { CommandFault } from "./fault-codes.ts"
import type { KeyNames, Script } from "./script.ts"

/** Begins so that it is no option, ends so that it keeps its extension. */
const NAME_PATTERN = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M} ._()+@-]{0,198}[\p{L}\p{N}\p{M}_)])?$/u
const NAME_BYTES_MAX = 240
/** A number and a variant are enough for every muxer. */
const FIELDS_MAX = 2

/**
 * What is wrong with the names of outputs and keys; `inputs` are names in the workspace by key, those
 * of `guessed` without their extension.
 */
export function judgeOutputNames(
  { inputKeys, outputs }: Script,
  { inputs, guessed }: Omit<KeyNames, "outputs">,
): CommandFault[] {
  const taken = new Set(inputs.values())
  return outputs.flatMap(({ key, name, field }): CommandFault[] => {
    if (inputKeys.includes(key)) {
      return [{ field, code: "name_taken", message: `"${key}" is the key of an input too` }]
    }
    const message = checkOutputName(name)
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

/** What is wrong with the name of an output by itself; null where nothing is. */
export function checkOutputName(name: string): string | null {
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
