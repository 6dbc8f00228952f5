import {
  findBundleKind,
  countUtf8Bytes,
  isPlaylistFileName,
  matchesNamePattern,
  splitNamePattern,
} from "../../contract/bundle.ts"
import type { OutputName } from "../../contract/bundle.ts"
import { makeWorkspaceInputName } from "../../contract/task.ts"
import type { TaskOutput } from "../../contract/task.ts"
import type { CommandFault } from "../../domain/faults.ts"
import { findLastOptionValue, parseFfmpegCommand } from "../../ffmpeg/command-line.ts"
import { KEY_PLACEHOLDER } from "../../ffmpeg/file-keys.ts"
import { sanitizeFileName } from "../file-name.ts"
import type { WorkspaceNamesByKey, CommandScript } from "./script.ts"

/** Maximum length of a workspace file name in bytes. Members of bundles may have longer names. */
const WORKSPACE_BYTES_MAX = 240
const CUT_BYTES = 180
/**
 * Maximum number of fields such as `%d` in an output name. Every muxer needs at most a number and a
 * variant.
 */
const FIELDS_MAX = 2
const TIME_FIELDS_MAX = 12

/** Characters that filter graphs, muxers or playlists may misread. */
const UNSAFE = /[^\p{L}\p{N}\p{M} ._()+@-]/gu
const UNSAFE_START = /^[^\p{L}\p{N}_%]/u
const UNSAFE_END = /[^\p{L}\p{N}\p{M}_)%]$/u

/**
 * Returns the outputs of a task, each with the name of its stored file. If tools could misread that
 * name, the output has another name in the workspace, the folder of the run. `commands` are lists
 * of words; their option `-strftime` may add times to file names.
 */
export function draftTaskOutputs(
  outputs: readonly { key: string; name: string }[],
  commands: readonly (readonly string[])[],
): TaskOutput[] {
  const timed = findTimed(commands)
  const taken = new Set(outputs.map(({ name }) => name))
  return outputs.map(({ key, name }) => {
    const output = {
      key,
      name,
      ...(timed.has(key) && !isPlaylistFileName(name) && { has_times: true as const }),
    }
    const safe = toSafeName(output)
    if (safe === name) return output
    const workspace_name = taken.has(safe) ? `${key}_${safe}` : safe
    taken.add(workspace_name)
    return { ...output, workspace_name }
  })
}

/**
 * Returns the keys of outputs whose file names contain times, because of the option `-strftime 1`.
 * The set also contains words of the commands that are no keys.
 */
function findTimed(commands: readonly (readonly string[])[]): Set<string> {
  const files = commands.flatMap((words) => parseFfmpegCommand(words).files)
  const timed = files.filter((file) => {
    return !/^(?:0|false|no|off|disabled?)?$/i.test(findLastOptionValue(file, "strftime") ?? "")
  })
  const words = timed.flatMap(({ word, options }) => [
    word,
    ...options.map(({ value }) => value ?? ""),
  ])
  return new Set(
    words.flatMap((word) => [
      word,
      ...Array.from(word.matchAll(KEY_PLACEHOLDER), ([, key = ""]) => key),
    ]),
  )
}

/**
 * Returns an output name that no tool misreads. The fields of a name pattern are kept, and `%%`
 * stands for a percent sign.
 */
function toSafeName(output: OutputName): string {
  const isSeries = findBundleKind(output) === "series"
  const texts = splitNamePattern(output).map(({ text, field }) => {
    const parts = text.split(/%%?/).map((part) => part.replace(UNSAFE, "_"))
    return (field ?? "") + parts.join(isSeries ? "%%" : "_")
  })
  const safe = texts.join("").replace(UNSAFE_START, "_").replace(UNSAFE_END, "_")
  return isSeries || countUtf8Bytes(safe) <= WORKSPACE_BYTES_MAX ? safe : cutName(safe)
}

/** Cuts the stem of a file name to `CUT_BYTES` bytes, and keeps the extension. */
function cutName(name: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ""
  const stem = name.slice(0, name.length - extension.length)
  let bytes = 0
  const kept = Array.from(stem).filter((character) => {
    bytes += countUtf8Bytes(character)
    return bytes <= CUT_BYTES
  })
  return kept.join("") + extension
}

/**
 * Returns the faults of output names and keys. `inputs` has the workspace file names of inputs by
 * key. `guessed` has the keys of inputs that are still to be imported, and whose file extension may
 * therefore change.
 */
export function findOutputNameFaults(
  { inputKeys, outputs }: CommandScript,
  planned: readonly TaskOutput[],
  { inputs, guessed }: Omit<WorkspaceNamesByKey, "outputs">,
): CommandFault[] {
  const usedNames: OutputName[] = [...inputs.values()].map((name) => ({ name }))
  return outputs.flatMap(({ key, name, field }, index): CommandFault[] => {
    const output = planned[index]
    if (!output) return []
    if (inputKeys.includes(key)) {
      return [{ field, code: "name_taken", message: `"${key}" is the key of an input too` }]
    }
    const message = findOutputNameError(output)
    if (message !== null) return [{ field, code: "invalid_name", message }]
    const own = { ...output, name: output.workspace_name ?? name }
    const importNames = [...guessed].map((input) => ({ name: makeWorkspaceInputName(input, name) }))
    const clash = [...usedNames, ...importNames].find((other) => areOneFile(own, other))
    usedNames.push(own)
    if (clash === undefined) return []
    return [
      {
        field,
        code: "name_taken",
        message: `another file of this command is called ${clash.name}`,
      },
    ]
  })
}

/** Returns the error message for an invalid output name; null if the name is valid. */
export function findOutputNameError(output: OutputName): string | null {
  const { name, has_times } = output
  if (/[/\\]/.test(name)) return "expected a file name without a folder"
  const fields = splitNamePattern(output).length - 1
  const fieldsMax = has_times ? TIME_FIELDS_MAX : FIELDS_MAX
  if (fields > fieldsMax) return `expected at most ${fieldsMax} fields, as %d and %v, in a name`
  if (fields > 0 && countUtf8Bytes(toSafeName(output)) > WORKSPACE_BYTES_MAX) {
    return `expected a pattern of at most ${WORKSPACE_BYTES_MAX} bytes`
  }
  if (sanitizeFileName(name) === name.normalize("NFC")) return null
  return "expected a file name of up to 200 characters, without control characters and without white space at its ends"
}

/**
 * Reports whether two output names can denote the same file: the names are equal, or the series
 * pattern of one name matches the other.
 */
function areOneFile(one: OutputName, other: OutputName): boolean {
  if (one.name === other.name) return true
  return (
    (findBundleKind(one) === "series" && matchesNamePattern(one, other.name)) ||
    (findBundleKind(other) === "series" && matchesNamePattern(other, one.name))
  )
}
