import { inputName } from "../../contract/task.ts"
import { substitute } from "../../contract/tasks/command.ts"
import { isId } from "../../ids.ts"
import type { FoundInput } from "../kind.ts"
import type { CommandFault } from "./fault-codes.ts"
import { judgeKeys } from "./keys.ts"
import { judgeOutputNames } from "./output-names.ts"
import { checkByFacts } from "./facts/check-command.ts"
import type { Known } from "./facts/known.ts"
import { checkCommand } from "./policy/check.ts"
import type { FileUse } from "./policy/file-names.ts"
import { firstFaults } from "./policy/refusal.ts"
import type { Refusal } from "./policy/refusal.ts"
import type { Terms } from "./policy/terms.ts"
import { explain } from "../../hints/command/explain.ts"
import type { Explained } from "../../hints/command/explain.ts"
import { failingFiles } from "../../hints/command/files.ts"
import { judgeSeeks } from "./seeks.ts"
import type { KeyNames, Script } from "./script.ts"

/** Everything wrong with what commands do: names of outputs, words, and where they seek. */
export function judgeScript(
  script: Script,
  inputs: readonly FoundInput[],
  ffmpeg: Known | null,
): CommandFault[] {
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
  const miskeyed = areKeysKnown ? judgeKeys(readable, script) : []
  const areNamed = misnamed.length === 0 && miskeyed.every(({ code }) => code !== "unknown_key")
  let isGarbled = false
  const refused = firstFaults(readable.entries(), ([place, line]) => {
    const isFirst = place === 0 && unreadable.length === 0
    const judging = { terms: script.terms, inputs, ffmpeg, isFirst, areNamed }
    const said = judgeLine(line, script, { names, judging })
    isGarbled ||= said.isGarbled
    return said.refusals.map((refusal) => ({ field: line.field, ...refusal }))
  })
  const keys = isGarbled ? [] : miskeyed
  return [
    ...misnamed,
    ...unreadable,
    ...keys.filter(({ code }) => code !== "unused_output"),
    ...refused,
    ...readable.flatMap((line) => judgeSeeks(line, names, inputs)),
    ...keys.filter(({ code }) => code === "unused_output"),
  ]
}

/** What is refused of a line, by its root. */
function judgeLine(
  { words, raws }: { words: string[]; raws: string[] },
  { inputKeys, outputs, terms }: Script,
  { names, judging }: { names: KeyNames; judging: Judging },
): Explained {
  const refused = refusals(words, names, judging)
  const outputKeys = outputs.map(({ key }) => key)
  const written = { words, raws, inputKeys, outputKeys, terms, known: judging.ffmpeg }
  if (refused.length > 0) return explain(written, refused)
  const failing = failingFiles(written)
  return { refusals: failing, isGarbled: failing.length > 0 }
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

type Judging = {
  terms: Terms
  inputs: readonly FoundInput[]
  ffmpeg: Known | null
  /** Whether no command before it may have written files. */
  isFirst: boolean
  /** Whether all outputs have the names that they will have. */
  areNamed: boolean
}

const TOO_MANY = new Set<Refusal["code"]>(["too_many_inputs", "too_many_outputs", "too_complex"])

/** What the policy refuses, and else what ffmpeg itself would. */
function refusals(
  words: readonly string[],
  names: KeyNames,
  { terms, inputs: found, ffmpeg, isFirst, areNamed }: Judging,
): Refusal[] {
  const { inputs, guessed, outputs } = names
  // An undeclared key is reported by judgeKeys, so its name is not judged as well.
  const named = substitute(words, {
    get: (key) => inputs.get(key) ?? outputs.get(key) ?? (/^\w+$/.test(key) ? key : undefined),
  })
  const inputNames = new Set(inputs.values())
  const refused = checkCommand(named, {
    inputs: { has: (name: string) => inputNames.has(name) || mayBeInput(guessed, name) },
    outputs: new Set(outputs.values()),
    terms,
    ...(isFirst && {
      insteadOfAbsent: (name, use) => insteadOfAbsent(name, use, { terms, found, words }),
    }),
  })
  // Of as many files, each would be judged by all others.
  if (refused.some(({ code }) => TOO_MANY.has(code))) return refused
  // Placeholders of keys that nobody declared stand in the words as they are.
  if (!ffmpeg || words.some((word) => /\{\{/.test(word) && named.includes(word))) return refused
  const probes = found.flatMap(({ key, file }) =>
    file?.probe ? [[inputs.get(key) ?? key, file.probe] as const] : [],
  )
  const said = new Set(refused.map(({ option }) => option))
  const more = checkByFacts(named, ffmpeg, new Map(probes))
  return [
    ...refused,
    ...more.filter(({ option }) => (option === undefined ? areNamed : !said.has(option))),
  ]
}

/** Uses of files that were there before the command. */
const READING = new Set<FileUse>(["input", "read", "font"])

function insteadOfAbsent(
  name: string,
  use: FileUse,
  { terms, found, words }: { terms: Terms; found: readonly FoundInput[]; words: readonly string[] },
): string | null {
  // A key that nobody declared is told of as such.
  if (words.some((word) => word.includes(`{{${name}}}`))) return null
  // Patterns name several files, keys are told of elsewhere, and fonts have names of their own.
  if (!READING.has(use) || /[%*?[]/.test(name) || /^(?:in|out)_\w+$/.test(name)) return null
  if (use === "font" && !/\.(?:ttf|otf|ttc|woff2?)$/i.test(name)) return null
  if (use === "input" && terms.giveInput === null) return null
  const meant = found.find(({ file, source }) => (file?.name ?? source?.name) === name)
  if (meant) return `it is the file of ${meant.field}, so write {{${meant.key}}} here`
  if (isId(name)) return `it is an id: give svc_id://${name} as an input, and write its key here`
  return use === "input" ? terms.giveInput : terms.giveFile
}

/** Whether a file of this name may be an input whose extension is not known yet. */
function mayBeInput(guessed: ReadonlySet<string>, name: string): boolean {
  return guessed.has(name.replace(/\.[^.]*$/, ""))
}
