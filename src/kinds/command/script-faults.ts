import { makeWorkspaceInputName, getWorkspaceOutputNames } from "../../contract/task.ts"
import type { TaskOutput } from "../../contract/task.ts"
import { replaceFileKeysByNames } from "../../ffmpeg/file-keys.ts"
import { isId } from "../../platform/ids.ts"
import type { ResolvedInput } from "../kind.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { findFileKeyFaults } from "./keys.ts"
import { findOutputNameFaults, draftTaskOutputs } from "./output-names.ts"
import { findCapabilityRefusals } from "./facts/check-command.ts"
import type { FfmpegCapabilities } from "./facts/capabilities.ts"
import { findPolicyRefusals } from "../../ffmpeg/policy/check.ts"
import type { FilePurpose } from "../../ffmpeg/policy/file-names.ts"
import { collectFaults } from "../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../ffmpeg/policy/refusal.ts"
import type { RemedyPhrases } from "../../ffmpeg/policy/remedies.ts"
import { replaceRefusalsByCauses } from "./hints/replace-refusals.ts"
import type { RefusalsWithCauses } from "./hints/replace-refusals.ts"
import { findUnusableFileRefusals } from "./hints/files.ts"
import { findWordRefusals } from "./hints/words.ts"
import { findSeekFaults } from "./seeks.ts"
import type { WorkspaceNamesByKey, CommandScript } from "./script.ts"

/**
 * Returns all faults of a request's commands: in output names, in syntax, keys and words, and in
 * `-ss` times past the end of an input.
 */
export function findScriptFaults(
  script: CommandScript,
  inputs: readonly ResolvedInput[],
  ffmpeg: FfmpegCapabilities | null,
): CommandFault[] {
  const inputNames = {
    inputs: computeWorkspaceInputNames(script.inputKeys, inputs),
    guessed: new Set(inputs.flatMap(({ key, source }) => (source ? [key] : []))),
  }
  const planned = draftTaskOutputs(
    script.outputs,
    script.lines.map((line) => ("words" in line ? line.words : [])),
  )
  const nameFaults = findOutputNameFaults(script, planned, inputNames)
  const names = { ...inputNames, outputs: assignOutputNames(script, planned, nameFaults) }
  const syntaxFaults = script.lines.flatMap((line) =>
    "words" in line ? [] : [{ field: line.field, code: line.code, message: line.error }],
  )
  const commandLines = script.lines.filter((line) => "words" in line)
  // The keys in a command that cannot be split into words are unknown, so no keys are checked.
  const areKeysKnown = commandLines.length > 0 && syntaxFaults.length === 0
  const keyFaults = areKeysKnown ? findFileKeyFaults(commandLines, script) : []
  const areNamed = nameFaults.length === 0 && keyFaults.every(({ code }) => code !== "unknown_key")
  let isGarbled = false
  const lineFaults = collectFaults(commandLines.entries(), ([place, line]) => {
    const isFirst = place === 0 && syntaxFaults.length === 0
    const context = { remedies: script.remedies, inputs, ffmpeg, isFirst, areNamed }
    const explanation = judgeLine(line, script, { names, context })
    isGarbled ||= explanation.isGarbled
    return explanation.refusals.map((refusal) => ({ field: line.field, ...refusal }))
  })
  const shownKeyFaults = isGarbled ? [] : keyFaults
  return [
    ...nameFaults,
    ...syntaxFaults,
    ...shownKeyFaults.filter(({ code }) => code !== "unused_output"),
    ...lineFaults,
    ...commandLines.flatMap((line) => findSeekFaults(line, names, inputs)),
    ...shownKeyFaults.filter(({ code }) => code === "unused_output"),
  ]
}

/**
 * Returns the refusals of a command line. The refusal of a mistake replaces the refusals of its
 * consequences.
 */
function judgeLine(
  { words, raws }: { words: string[]; raws: string[] },
  { inputKeys, outputs, remedies }: CommandScript,
  { names, context }: { names: WorkspaceNamesByKey; context: LineContext },
): RefusalsWithCauses {
  const wordRefusals = findWordRefusals(words)
  if (wordRefusals.length > 0) return { refusals: wordRefusals, isGarbled: true }
  const lineRefusals = refusals(words, names, context)
  const outputKeys = outputs.map(({ key }) => key)
  const text = { words, raws, inputKeys, outputKeys, remedies, capabilities: context.ffmpeg }
  if (lineRefusals.length > 0) return replaceRefusalsByCauses(text, lineRefusals)
  const fileRefusals = findUnusableFileRefusals(text)
  return { refusals: fileRefusals, isGarbled: fileRefusals.length > 0 }
}

/**
 * Returns the file names of inputs in the workspace, by key. An input whose file is unknown gets a
 * name without an extension. Until an import ends, the name is guessed from the URL, and its
 * extension may change.
 */
export function computeWorkspaceInputNames(
  keys: readonly string[],
  inputs: readonly ResolvedInput[],
): Map<string, string> {
  const fileNames = new Map(
    inputs.map(({ key, file, source }) => [key, file?.name ?? source?.name ?? ""]),
  )
  return new Map(
    keys.map((key) => [key, makeWorkspaceInputName(key, fileNames.get(key) ?? "")] as const),
  )
}

/**
 * Returns the file names of outputs in the workspace, by key. An output whose name is invalid gets
 * its key as the file name, so that the same name causes no further faults in the commands.
 */
function assignOutputNames(
  { outputs }: CommandScript,
  planned: readonly TaskOutput[],
  faults: CommandFault[],
): Map<string, string> {
  const names = getWorkspaceOutputNames(planned)
  const refusedFields = new Set(faults.map(({ field }) => field))
  return new Map(
    outputs.map(({ key, field }) => [
      key,
      (refusedFields.has(field) ? null : names.get(key)) ?? key,
    ]),
  )
}

type LineContext = {
  remedies: RemedyPhrases
  inputs: readonly ResolvedInput[]
  ffmpeg: FfmpegCapabilities | null
  /** Whether the command is the first, so that no earlier command can have written files. */
  isFirst: boolean
  /** Whether all outputs have valid names, and all keys are declared. */
  areNamed: boolean
}

const TOO_MANY = new Set<CommandRefusal["code"]>([
  "too_many_inputs",
  "too_many_outputs",
  "too_complex",
])

/**
 * Returns the refusals of a command: first refusals by the policy, then refusals by the
 * capabilities of the ffmpeg build.
 */
function refusals(
  words: readonly string[],
  names: WorkspaceNamesByKey,
  { remedies, inputs: inputFiles, ffmpeg, isFirst, areNamed }: LineContext,
): CommandRefusal[] {
  const { inputs, guessed, outputs } = names
  // Replaces an undeclared key by the key itself as a file name, because findFileKeyFaults already
  // reports the key.
  const argv = replaceFileKeysByNames(words, {
    get: (key) => inputs.get(key) ?? outputs.get(key) ?? (/^\w+$/.test(key) ? key : undefined),
  })
  const inputNames = new Set(inputs.values())
  const policyRefusals = findPolicyRefusals(argv, {
    inputs: { has: (name: string) => inputNames.has(name) || mayBeInput(guessed, name) },
    outputs: new Set(outputs.values()),
    remedies,
    ...(isFirst && {
      remedyForMissingFile: (name, use) =>
        remedyForMissingFile(name, use, { remedies, inputFiles, words }),
    }),
  })
  // Commands with too many files or too much text are not compared with the capabilities of ffmpeg,
  // because that would take too long.
  if (policyRefusals.some(({ code }) => TOO_MANY.has(code))) return policyRefusals
  // Commands that still contain placeholders of undeclared keys are not checked further.
  if (!ffmpeg || words.some((word) => /\{\{/.test(word) && argv.includes(word)))
    return policyRefusals
  const probes = inputFiles.flatMap(({ key, file }) =>
    file?.probe ? [[inputs.get(key) ?? key, file.probe] as const] : [],
  )
  const refusedOptions = new Set(policyRefusals.map(({ option }) => option))
  const capabilityRefusals = findCapabilityRefusals(argv, ffmpeg, new Map(probes))
  return [
    ...policyRefusals,
    ...capabilityRefusals.filter(({ option }) =>
      option === undefined ? areNamed : !refusedOptions.has(option),
    ),
  ]
}

/** Uses of files for which the file must exist before the command runs. */
const READING = new Set<FilePurpose>(["input", "read", "font"])

function remedyForMissingFile(
  name: string,
  use: FilePurpose,
  {
    remedies,
    inputFiles,
    words,
  }: { remedies: RemedyPhrases; inputFiles: readonly ResolvedInput[]; words: readonly string[] },
): string | null {
  // An undeclared key needs no remedy here, because findFileKeyFaults reports the key.
  if (words.some((word) => word.includes(`{{${name}}}`))) return null
  // Three groups of names get no remedy here: patterns, because a pattern stands for several files;
  // keys, because findFileKeyFaults reports them; and fonts without a file extension, because they
  // are fonts of the system.
  if (!READING.has(use) || /[%*?[]/.test(name) || /^(?:in|out)_\w+$/.test(name)) return null
  if (use === "font" && !/\.(?:ttf|otf|ttc|woff2?)$/i.test(name)) return null
  if (use === "input" && remedies.giveInput === null) return null
  const sameFile = inputFiles.find(({ file, source }) => (file?.name ?? source?.name) === name)
  if (sameFile)
    return `the word is the file name of ${sameFile.field}: write {{${sameFile.key}}} here`
  if (isId(name))
    return `the word is an id: give svc_id://${name} as an input, and write its key here`
  return use === "input" ? remedies.giveInput : remedies.giveFile
}

/** Reports whether a file name, except its extension, is that of an input still to be imported. */
function mayBeInput(guessed: ReadonlySet<string>, name: string): boolean {
  return guessed.has(name.replace(/\.[^.]*$/, ""))
}
