import { failureCodeSchema } from "../../../src/contract/failure.ts"
import type { TaskInput, TaskOutput } from "../../../src/contract/task.ts"
import { parseFfmpegCommand } from "../../../src/ffmpeg/command-line.ts"
import type { CommandFile, CommandOption } from "../../../src/ffmpeg/command-line.ts"
import { replaceFileKeysByNames } from "../../../src/ffmpeg/file-keys.ts"
import type { FileNamesByKey } from "../../../src/ffmpeg/file-keys.ts"
import { findOptionPolicyRefusals } from "../../../src/ffmpeg/policy/check-options.ts"
import { findOptionValueKind } from "../../../src/ffmpeg/policy/options.ts"
import { quoteShortenedValue } from "../../../src/ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../src/ffmpeg/policy/refusal.ts"
import type { RemedyPhrases } from "../../../src/ffmpeg/policy/remedies.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { prefixCommandNumber } from "../../tools/ffmpeg/explain-failure.ts"
import type { CommandPosition } from "../../tools/ffmpeg/explain-failure.ts"
import { rewriteHlsKeyInfo } from "./key-info.ts"
import { readTextInput } from "./text-input.ts"

/** Maximum size of a file with a filter graph, in bytes. */
const GRAPH_BYTES_MAX = 64 * 1024
/**
 * Maximum total size of the filter graph files of a command, in bytes. The graphs become arguments
 * of ffmpeg, whose size is limited.
 */
const GRAPHS_BYTES_MAX = 512 * 1024

/**
 * Input and output files of a task. `names` maps the keys by which commands name the files, such as
 * `in_1`, to the file names in the workspace.
 */
export type TaskFiles = {
  workspace: string
  inputs: readonly TaskInput[]
  outputs: readonly TaskOutput[]
  names: FileNamesByKey
  /**
   * Phrases by which messages tell the caller how to correct a command. The phrases differ because
   * commands may be written in several forms of requests.
   */
  remedies: RemedyPhrases
}

/**
 * Returns the arguments of ffmpeg for each command, with file names instead of keys. Replaces each
 * option that reads a filter graph from a file by an option that contains the graph, so that ffmpeg
 * runs exactly the text that was checked. Replaces each HLS key info file by a file that the runner
 * writes. Reads all these files before any command runs.
 */
export function prepareFfmpegCommands(
  commands: readonly (readonly string[])[],
  files: TaskFiles,
): string[][] | TaskFailure {
  const prepared: string[][] = []
  for (const [index, words] of commands.entries()) {
    const position = { number: index + 1, total: commands.length }
    const command = prepareCommand(words, files, position)
    if ("failure" in command) return command
    prepared.push(command)
  }
  return prepared
}

function prepareCommand(
  words: readonly string[],
  files: TaskFiles,
  position: CommandPosition,
): string[] | TaskFailure {
  const prepared = replaceFileKeysByNames(words, files.names)
  const command = parseFfmpegCommand(prepared)
  const last = { kind: "output" as const, word: "", options: command.trailing, at: words.length }
  let graphBytes = 0
  for (const file of [...command.files, last]) {
    for (const option of file.options) {
      const read = readOption(option, file, files)
      if (read === null) continue
      if ("code" in read) return fail(read, option, position)
      prepared.splice(option.at - 1, 2, read.option, read.value)
      if (!read.isGraph) continue
      graphBytes += Buffer.byteLength(read.value)
      if (graphBytes <= GRAPHS_BYTES_MAX) continue
      const message = `the graph files of the command have ${graphBytes} bytes; expected at most ${GRAPHS_BYTES_MAX}`
      return fail({ code: "too_complex", message }, option, position)
    }
  }
  return prepared
}

/**
 * Reason why a file that an option reads is refused. `others` contains the messages of further
 * reasons.
 */
type FileRefusal = {
  code: CommandRefusal["code"] | "invalid_input"
  message: string
  others?: string[]
}

type ReadOption = { option: string; value: string; isGraph: boolean }

/**
 * Returns the replacement for an option that reads a filter graph or an HLS key info from a file.
 * Returns null for all other options.
 */
function readOption(
  option: CommandOption,
  file: CommandFile,
  files: TaskFiles,
): ReadOption | FileRefusal | null {
  const kind = option.value === null ? null : findOptionValueKind(option.name)
  if (kind !== "graph-file" && kind !== "key-info") return null
  const { workspace, inputs } = files
  const input = inputs.find(({ name }) => name === option.value)
  if (!input) {
    const message = `${quoteShortenedValue(option.value ?? "")}: expected an input, since the file is read before the command; ${files.remedies.giveFile}`
    return { code: "name_not_allowed", message }
  }
  if (kind === "graph-file") return readGraphFile(option, { file, input, files })
  const info = rewriteHlsKeyInfo(workspace, input, inputs)
  if ("fault" in info) return { code: "invalid_input", message: info.fault }
  return { option: option.word, value: info.name, isGraph: false }
}

function readGraphFile(
  option: CommandOption,
  { file, input, files }: { file: CommandFile; input: TaskInput; files: TaskFiles },
): ReadOption | FileRefusal {
  const read = readTextInput(files.workspace, input, GRAPH_BYTES_MAX)
  if ("problem" in read) {
    const message = `the graph file ${quoteShortenedValue(input.name)}`
    return read.problem === "too large"
      ? { code: "too_complex", message: `${message} has more than ${GRAPH_BYTES_MAX} bytes` }
      : { code: "invalid_input", message: `${message} is not UTF-8 text` }
  }
  const inline = inlineOption(option)
  const [, graph = ""] = replaceFileKeysByNames([inline.word, read.text], files.names)
  const refusals = findOptionPolicyRefusals(
    { ...option, name: inline.name, value: graph },
    {
      kind: file.kind,
      names: {
        inputs: new Set(files.inputs.map(({ name }) => name)),
        outputs: new Set(files.outputs.map(({ name }) => name)),
        remedies: files.remedies,
      },
    },
  )
  const [first, ...others] = refusals
  if (!first) return { option: inline.word, value: graph, isGraph: true }
  return { ...first, others: others.map(({ message }) => message) }
}

/**
 * Returns the option whose value is the filter graph itself, for an option that reads the graph
 * from a file: `-filter:v` for `-filter_script:v` and `-/filter:v`.
 */
function inlineOption({ word }: CommandOption): { word: string; name: string } {
  const inline = word.replace(/^-\//, "-").replace(/^(-filter(?:_complex)?)_script/, "$1")
  return { word: inline, name: inline.slice(1).split(":", 1)[0] ?? "" }
}

function fail(
  { code, message, others = [] }: FileRefusal,
  { word }: CommandOption,
  position: CommandPosition,
): TaskFailure {
  const sentence = message.startsWith(`${word}:`) ? message : `${word}: ${message}`
  const known = failureCodeSchema.catch("command_failed").parse(code)
  return createCallerFailure(known, prefixCommandNumber(position, `${sentence}.`), others)
}
