import { namedKeys, splitWords } from "../../contract/command-line.ts"
import type { Detail } from "../../http/problem.ts"
import type { CommandRequest } from "./schema.ts"

const WORDS_MAX = 4000

/** The commands of a request as words without the program's name, and all that is wrong in them. */
export function readCommands(request: CommandRequest): { commands: string[][]; details: Detail[] } {
  const { ffmpeg_command: one, ffmpeg_commands: several } = request
  if ((one === undefined) === (several === undefined)) {
    const message = "give either ffmpeg_command or ffmpeg_commands"
    return { commands: [], details: [{ field: "ffmpeg_command", message }] }
  }
  const lines =
    one === undefined
      ? (several ?? []).map((line, index) => ({ field: `ffmpeg_commands.${index}`, line }))
      : [{ field: "ffmpeg_command", line: one }]
  const details: Detail[] = []
  const commands = lines.map(({ field, line }) => {
    const read = readLine(line, one === undefined)
    if ("words" in read) return read.words
    details.push({ field, message: read.error })
    return []
  })
  if (details.length > 0) return { commands, details }
  return { commands, details: checkKeys(commands, lines, request) }
}

function readLine(line: string, mayOmitProgram: boolean) {
  const split = splitWords(line)
  if ("error" in split) return { error: `it cannot be split into words: ${split.error}` }
  const [program = "", ...rest] = split.words
  if (split.words.length > WORDS_MAX) return { error: `expected at most ${WORDS_MAX} words` }
  const words = program === "ffmpeg" ? rest : split.words
  if (program !== "ffmpeg" && !(mayOmitProgram && program.startsWith("-"))) {
    return { error: `expected a command that begins with ffmpeg, not with "${program}"` }
  }
  return words.length > 0 ? { words } : { error: "expected options and an output after ffmpeg" }
}

function checkKeys(
  commands: string[][],
  lines: { field: string }[],
  request: CommandRequest,
): Detail[] {
  const outputs = Object.keys(request.output_files)
  const declared = new Set([...Object.keys(request.input_files), ...outputs])
  const named = new Set<string>()
  const details = commands.flatMap((words, index) => {
    const keys = namedKeys(words, declared)
    for (const key of keys.known) named.add(key)
    return [...keys.unknown].map((key) => ({
      field: lines[index]?.field ?? "ffmpeg_command",
      message: `"${key}" is a key of neither input_files nor output_files`,
    }))
  })
  const unnamed = outputs.filter((key) => !named.has(key))
  return [
    ...details,
    ...unnamed.map((key) => ({
      field: `output_files.${key}`,
      message: `no command names this output; write {{${key}}} where its file goes`,
    })),
  ]
}
