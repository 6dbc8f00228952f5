import { PLACEHOLDER, substitute } from "../../contract/tasks/command.ts"
import type { CommandFault, FaultCode } from "./fault-codes.ts"
import { checkCommand } from "./policy/check.ts"
import type { CommandPart } from "./request.ts"

const WORDS_MAX = 4000

/** A command as it stands in a request, and the field that it stands in. */
export type Line = { field: string; text: string }

/** The names that keys have in the workspace; inputs of `guessed` may have another extension. */
export type KeyNames = {
  inputs: ReadonlyMap<string, string>
  guessed: ReadonlySet<string>
  outputs: ReadonlyMap<string, string>
}

type Read = { words: string[] } | { error: string; code: FaultCode }

/** The words of each command of a request that can be read, without the program's name. */
export function readWords(request: CommandPart): string[][] {
  return linesOf(request).map((line) => {
    const read = readLine(line)
    return "words" in read ? read.words : []
  })
}

/** Everything wrong in the commands of a request. */
export function judgeLines(request: CommandPart, names: KeyNames): CommandFault[] {
  const { ffmpeg_command: one, ffmpeg_commands: several } = request
  if ((one === undefined) === (several === undefined)) {
    const message = "give either ffmpeg_command or ffmpeg_commands"
    return [{ field: "ffmpeg_command", code: "invalid_field", message }]
  }
  const lines = linesOf(request).map((line) => ({ ...line, read: readLine(line) }))
  const unreadable = lines.flatMap(({ field, read }) =>
    "words" in read ? [] : [{ field, code: read.code, message: read.error }],
  )
  const readable = lines.flatMap(({ field, read }) =>
    "words" in read ? [{ field, words: read.words }] : [],
  )
  // The keys that an unreadable command names are not known.
  const keys = unreadable.length > 0 ? [] : judgeKeys(readable, request)
  return [...unreadable, ...keys, ...readable.flatMap((line) => refusals(line, names))]
}

/** The commands of a request with the fields that they stand in. */
export function linesOf(request: Pick<CommandPart, "ffmpeg_command" | "ffmpeg_commands">): Line[] {
  const { ffmpeg_command: one, ffmpeg_commands: several = [] } = request
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

type ReadLine = { field: string; words: string[] }

function refusals({ field, words }: ReadLine, names: KeyNames): CommandFault[] {
  const { inputs, guessed, outputs } = names
  // An undeclared key is reported by judgeKeys, so its name is not judged as well.
  const named = substitute(words, {
    get: (key) => inputs.get(key) ?? outputs.get(key) ?? (/^\w+$/.test(key) ? key : undefined),
  })
  const inputNames = new Set(inputs.values())
  const known = {
    inputs: { has: (name: string) => inputNames.has(name) || mayBeInput(guessed, name) },
    outputs: new Set(outputs.values()),
  }
  return checkCommand(named, known).map((refusal) => ({ field, ...refusal }))
}

/** Whether a file of this name may be an input whose extension is not known yet. */
function mayBeInput(guessed: ReadonlySet<string>, name: string): boolean {
  return guessed.has(name.replace(/\.[^.]*$/, ""))
}

function judgeKeys(lines: readonly ReadLine[], request: CommandPart): CommandFault[] {
  const outputs = Object.keys(request.output_files)
  const declared = new Set([...Object.keys(request.input_files), ...outputs])
  const named = new Set<string>()
  const faults = lines.flatMap(({ field, words }) => {
    const keys = namedKeys(words, declared)
    for (const key of keys.known) named.add(key)
    return [...keys.unknown].map((key) => ({
      field,
      code: "unknown_key" as const,
      message: `"${key}" is a key of neither input_files nor output_files`,
    }))
  })
  const unnamed = outputs.filter((key) => !named.has(key))
  return [
    ...faults,
    ...unnamed.map((key) => ({
      field: `output_files.${key}`,
      code: "unused_output" as const,
      message: `no command names this output; write {{${key}}} where its file goes`,
    })),
  ]
}

/** A command line split into words, or a sentence that says why it cannot be. */
type Split = { words: string[] } | { error: string }

/**
 * Splits a line as a POSIX shell would: single and double quotes, backslash, backslash-newline.
 * Nothing is expanded: `$`, `~` and globs are plain characters.
 */
export function splitWords(line: string): Split {
  if (line.includes("\0")) return { error: "it holds a NUL character" }
  const words: string[] = []
  let word: string | null = null
  let quote: "'" | '"' | null = null
  const source = line.replaceAll("\\\r\n", "\\\n").replace(/\{\{\s*([^{}\s]+)\s*\}\}/g, "{{$1}}")
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at)
    const next = source.charAt(at + 1)
    if (quote === "'") {
      if (character === "'") quote = null
      else word += character
    } else if (character === "\\" && next === "") {
      return { error: "it ends with a lone backslash" }
    } else if (character === "\\" && (quote === null || '$`"\\\n'.includes(next))) {
      if (next !== "\n") word = (word ?? "") + next
      at += 1
    } else if (character === quote) {
      quote = null
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character
      word ??= ""
    } else if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else {
      word = (word ?? "") + character
    }
  }
  if (quote !== null) return { error: `a ${quote} is opened and never closed` }
  if (word !== null) words.push(word)
  return { words }
}

/** The keys that a command names: those that the request declares, and those that it does not. */
export function namedKeys(words: readonly string[], declared: ReadonlySet<string>) {
  const known = new Set<string>()
  const unknown = new Set<string>()
  substitute(words, {
    get(key) {
      if (declared.has(key)) known.add(key)
      return undefined
    },
  })
  for (const word of words) {
    for (const [, key = ""] of word.matchAll(PLACEHOLDER)) if (!declared.has(key)) unknown.add(key)
  }
  for (const word of mediaWords(words)) {
    if (/^(?:in|out)_[A-Za-z0-9_]+$/.test(word) && !declared.has(word)) unknown.add(word)
  }
  return { known, unknown }
}

/** Words that can only be a file: what follows `-i`, and the last one. */
function mediaWords(words: readonly string[]): string[] {
  return words.filter((_, index) => words[index - 1] === "-i" || index === words.length - 1)
}
