import { inputName } from "../../contract/task.ts"
import { substitute } from "../../contract/tasks/command.ts"
import type { FoundInput } from "../kind.ts"
import type { CommandFault } from "./fault-codes.ts"
import { judgeKeys } from "./keys.ts"
import { judgeOutputNames } from "./output-names.ts"
import { checkCommand } from "./policy/check.ts"
import type { Terms } from "./policy/terms.ts"
import { judgeSeeks } from "./seeks.ts"
import type { KeyNames, Script } from "./script.ts"

/** Everything wrong with what commands do: names of outputs, words, and where they seek. */
export function judgeScript(script: Script, inputs: readonly FoundInput[]): CommandFault[] {
  const given = {
    inputs: workspaceNames(script.inputKeys, inputs),
    guessed: new Set(inputs.flatMap(({ key, source }) => (source ? [key] : []))),
  }
  const misnamed = judgeOutputNames(script, given)
  const names = { ...given, outputs: usableNames(script, misnamed) }
  const unreadable = script.lines.flatMap((line) =>
    "words" in line ? [] : [{ field: line.field, code: line.code, message: line.error }],
  )
  const readable = script.lines.filter((line) => "words" in line)
  // The keys that an unreadable command names are not known.
  const areKeysKnown = readable.length > 0 && unreadable.length === 0
  return [
    ...misnamed,
    ...unreadable,
    ...(areKeysKnown ? judgeKeys(readable, script) : []),
    ...readable.flatMap(({ field, words }) => {
      return refusals(words, names, script.terms).map((refusal) => ({ field, ...refusal }))
    }),
    ...readable.flatMap((line) => judgeSeeks(line, names, inputs)),
  ]
}

/**
 * The names of inputs in the workspace by key; an input that cannot be looked up has the name that
 * a file without an extension would have. That of one that is to be brought in is a guess by its URL:
 * any extension may come of it.
 */
export function workspaceNames(
  keys: readonly string[],
  inputs: readonly FoundInput[],
): Map<string, string> {
  const fileNames = new Map(
    inputs.map(({ key, file, source }) => [key, file?.name ?? source?.name ?? ""]),
  )
  return new Map(keys.map((key) => [key, inputName(key, fileNames.get(key) ?? "")] as const))
}

/** Names of outputs by key; one that is refused already is not judged a second time in commands. */
function usableNames({ outputs }: Script, misnamed: CommandFault[]): Map<string, string> {
  const refused = new Set(misnamed.map(({ field }) => field))
  return new Map(outputs.map(({ key, name, field }) => [key, refused.has(field) ? key : name]))
}

function refusals(words: readonly string[], names: KeyNames, terms: Terms) {
  const { inputs, guessed, outputs } = names
  // An undeclared key is reported by judgeKeys, so its name is not judged as well.
  const named = substitute(words, {
    get: (key) => inputs.get(key) ?? outputs.get(key) ?? (/^\w+$/.test(key) ? key : undefined),
  })
  const inputNames = new Set(inputs.values())
  return checkCommand(named, {
    inputs: { has: (name: string) => inputNames.has(name) || mayBeInput(guessed, name) },
    outputs: new Set(outputs.values()),
    terms,
  })
}

/** Whether a file of this name may be an input whose extension is not known yet. */
function mayBeInput(guessed: ReadonlySet<string>, name: string): boolean {
  return guessed.has(name.replace(/\.[^.]*$/, ""))
}
