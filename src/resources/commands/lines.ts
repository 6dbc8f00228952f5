import { namedKeys, splitWords, substitute } from "../../contract/command-line.ts"
import { checkCommand } from "../../contract/command-policy/check.ts"
import type { CommandDetail, ErrorCode } from "./error-codes.ts"
import type { CommandPart } from "./tasks.ts"

const WORDS_MAX = 4000

/** A command as it stands in a request, and the field that it stands in. */
export type Line = { field: string; text: string }

/** The names that keys have in the workspace. */
export type KeyNames = { inputs: ReadonlyMap<string, string>; outputs: ReadonlyMap<string, string> }

type Read = { words: string[] } | { error: string; code: ErrorCode }

/** The commands of a request as words without the program's name, and all that is wrong in them. */
export function readCommands(
  request: CommandPart,
  names: KeyNames,
): { commands: string[][]; details: CommandDetail[] } {
  const { ffmpeg_command: one, ffmpeg_commands: several } = request
  if ((one === undefined) === (several === undefined)) {
    const message = "give either ffmpeg_command or ffmpeg_commands"
    return { commands: [], details: [{ field: "ffmpeg_command", code: "invalid_field", message }] }
  }
  const lines = linesOf(one, several ?? [])
  const reads = lines.map((line) => readLine(line))
  const commands = reads.map((read) => ("words" in read ? read.words : []))
  const unreadable = reads.flatMap((read, index) =>
    "words" in read
      ? []
      : [{ field: lines[index]?.field ?? "", code: read.code, message: read.error }],
  )
  const refused = commands.flatMap((words, index) =>
    words.length > 0 ? refusals(words, lines[index]?.field ?? "", names) : [],
  )
  // What an unreadable command names nobody knows.
  const keys = unreadable.length > 0 ? [] : checkKeys(commands, lines, request)
  return { commands, details: [...unreadable, ...keys, ...refused] }
}

/** The commands of a request with the fields that they stand in. */
export function linesOf(one: string | undefined, several: readonly string[]): Line[] {
  if (one !== undefined) return [{ field: "ffmpeg_command", text: one }]
  return several.map((text, index) => ({ field: `ffmpeg_commands.${index}`, text }))
}

/** A command split into words without the program, or why it cannot be. */
export function readLine({ field, text }: Line): Read {
  const split = splitWords(text)
  if ("error" in split) {
    const error = `it cannot be split into words: ${split.error}`
    return { error, code: "unreadable_command" }
  }
  const [program = "", ...rest] = split.words
  if (split.words.length > WORDS_MAX) {
    return { error: `expected at most ${WORDS_MAX} words`, code: "too_many_words" }
  }
  const words = program === "ffmpeg" ? rest : split.words
  const mayOmitProgram = field !== "ffmpeg_command"
  if (program !== "ffmpeg" && !(mayOmitProgram && program.startsWith("-"))) {
    const error = `expected a command that begins with ffmpeg, not with "${program}"`
    return { error, code: "not_ffmpeg" }
  }
  if (words.length > 0) return { words }
  return { error: "expected options and an output after ffmpeg", code: "empty_command" }
}

function refusals(words: string[], field: string, { inputs, outputs }: KeyNames): CommandDetail[] {
  // A key that nobody declared is an error of its own, and not one of its name too.
  const named = substitute(words, {
    get: (key) => inputs.get(key) ?? outputs.get(key) ?? (/^\w+$/.test(key) ? key : undefined),
  })
  const known = { inputs: new Set(inputs.values()), outputs: new Set(outputs.values()) }
  return checkCommand(named, known).map((refusal) => ({ field, ...refusal }))
}

function checkKeys(
  commands: string[][],
  lines: readonly Line[],
  request: CommandPart,
): CommandDetail[] {
  const outputs = Object.keys(request.output_files)
  const declared = new Set([...Object.keys(request.input_files), ...outputs])
  const named = new Set<string>()
  const details = commands.flatMap((words, index) => {
    const keys = namedKeys(words, declared)
    for (const key of keys.known) named.add(key)
    return [...keys.unknown].map((key) => ({
      field: lines[index]?.field ?? "ffmpeg_command",
      code: "unknown_key" as const,
      message: `"${key}" is a key of neither input_files nor output_files`,
    }))
  })
  const unnamed = outputs.filter((key) => !named.has(key))
  return [
    ...details,
    ...unnamed.map((key) => ({
      field: `output_files.${key}`,
      code: "unused_output" as const,
      message: `no command names this output; write {{${key}}} where its file goes`,
    })),
  ]
}
