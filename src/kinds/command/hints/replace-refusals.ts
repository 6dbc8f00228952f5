import { parseOptionName, parseFfmpegCommand } from "../../../ffmpeg/command-line.ts"
import type { CommandFile, CommandOption } from "../../../ffmpeg/command-line.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { quoteShortenedValue } from "../../../ffmpeg/policy/refusal.ts"
import { buildAliasMap, quoteForMessage } from "../../../hints/hint-table.ts"
import { findFileMistakeRefusals } from "./files.ts"
import { describeGraphCorrection, findGraphMistakeRefusals } from "./graphs.ts"
import {
  BLANK_PLACEHOLDER,
  findRefusalByLineHints,
  removePlaceholderBraces,
  joinWordsWithSpaces,
  makeExamplePlaceholders,
} from "./line.ts"
import type { LineHint, CommandText } from "./line.ts"
import { SHELL_WORD_HINTS, SHELL_SUBSTITUTION_HINTS } from "./words.ts"
import { findOutputMuxers } from "../facts/codecs.ts"
import { findOptionValueKind, findOptionRefusalReason } from "../../../ffmpeg/policy/options.ts"
import { describeUnknownOption, isKnownOption } from "../facts/known-options.ts"

/**
 * Refusals of a command, in which the refusal of a mistake replaces the refusals of its
 * consequences. `isGarbled` means that the words were not split as the caller intended, so that
 * faults of file keys would mislead.
 */
export type RefusalsWithCauses = { refusals: CommandRefusal[]; isGarbled: boolean }

/** Pattern of an undeclared key's placeholder in a message. A separate fault reports such a key. */
const UNKNOWN_KEY = /"\{\{[^{}]+\}\}"/
const SHAPE_CODES = new Set<CommandRefusal["code"]>([
  "trailing_option",
  "missing_value",
  "no_output",
])

/** Replaces the refusals of a command by refusals of the mistakes that caused them. */
export function replaceRefusalsByCauses(
  text: CommandText,
  refusals: readonly CommandRefusal[],
): RefusalsWithCauses {
  const shellRefusal = explainShell(text)
  if (shellRefusal) return { refusals: [shellRefusal], isGarbled: true }
  for (const find of [explainOptions, findFileMistakeRefusals, explainStrays]) {
    const causes = find(text, refusals)
    if (causes.length === 0) continue
    return { refusals: inPlace(causes, refusals), isGarbled: true }
  }
  // If the format of an input is a device, the value of -i is the name of a device, so that its
  // refusal as a file name would mislead.
  const isDevice = refusals.some(({ code }) => code === "format_not_allowed")
  const graphs = findGraphMistakeRefusals(text, refusals)
  const correctedOptions = new Set(graphs.map(({ option }) => option))
  const others = refusals.filter(({ code, option, message }) => {
    if (code === "filter_error") return !correctedOptions.has(option)
    if (code !== "name_not_allowed") return true
    return !UNKNOWN_KEY.test(message) && !(isDevice && option === "-i")
  })
  return {
    refusals: [...graphs, ...others].map((each) => withBackslashes(each, text)),
    isGarbled: false,
  }
}

/**
 * Returns a refusal of the first word that only a shell understands or that a text editor changed.
 * Such a word causes the other refusals of the command.
 */
function explainShell(text: CommandText): CommandRefusal | null {
  const line = joinWordsWithSpaces(text.words)
  const values = makeExamplePlaceholders(text)
  const words = parseFfmpegCommand(text.words).files.map(({ word }) => word)
  return (
    findRefusalByLineHints(line, SHELL_SUBSTITUTION_HINTS, "value_not_allowed", { values }) ??
    findRefusalByLineHints(line, SHELL_WORD_HINTS, "name_not_allowed", { values, words })
  )
}

/** Replaces the refusals that follow from a mistake by `causes`, the refusals of the mistake. */
function inPlace(
  causes: readonly CommandRefusal[],
  refusals: readonly CommandRefusal[],
): CommandRefusal[] {
  const explainedOptions = new Set(causes.map(({ option }) => option))
  // In a command without -i, the checks took the -f of the input for the -f of an output.
  if (explainedOptions.has("-i")) explainedOptions.add("-f")
  const others = refusals.map((refusal) => {
    const { code, option } = refusal
    return option === undefined || explainedOptions.has(option) || SHAPE_CODES.has(code)
      ? null
      : refusal
  })
  return others
    .toSpliced(Math.max(0, others.indexOf(null)), 0, ...causes)
    .filter((each) => each !== null)
}

/**
 * Shows the path in a refusal as the caller wrote it, with the backslashes that the shell rules
 * removed.
 */
function withBackslashes(refusal: CommandRefusal, { words, raws }: CommandText): CommandRefusal {
  const place = words.findIndex((word, index) => {
    return raws[index]?.includes("\\") && refusal.message.includes(quoteShortenedValue(word))
  })
  const [word, raw] = [words[place], raws[place]]
  if (word === undefined || raw === undefined) return refusal
  const path = quoteForMessage(raw.replace(/^(["'])(.*)\1$/, "$2"))
  return { ...refusal, message: refusal.message.replace(quoteShortenedValue(word), () => path) }
}

const TIME = String.raw`^ (-(?:ss|t|to|sseof|itsoffset)) (\d+) `
const VALUE = String.raw`^ (-[a-z]\S*) (\S*\d) `
/** Pattern of a value written as several words, up to the next option or key placeholder. */
const WORDS = String.raw`\S+(?: (?!-[a-z]|\{\{)\S+)+`
const ONE_WORD = "a value is one word, without a space; write"

/**
 * Hints for stray words, which are neither an option nor an option's value. Each pattern matches a
 * line that begins with the two words before the stray word.
 */
const STRAYS: readonly LineHint[] = [
  [/^ \S* (-(?!i )[a-z]\S*) (\S+)/i, "`$1` takes no value; leave out `$2`"],
  [/^ -s (\d+) (\d+) /, `${ONE_WORD} \`-s $1x$2\``],
  [/^ -preset (\w+) (fast|slow|er|est) /, `${ONE_WORD} \`-preset $1$2\``],
  [new RegExp(`${TIME}m(?:in\\w*)? `, "i"), `${ONE_WORD} \`$1 $2:00\``],
  [new RegExp(`${TIME}h\\w* `, "i"), `${ONE_WORD} \`$1 $2:00:00\``],
  [new RegExp(`${TIME}s(?:ec\\w*)? `, "i"), `${ONE_WORD} \`$1 $2\``],
  [new RegExp(`${VALUE}k(?:b\\S*)? `, "i"), `${ONE_WORD} \`$1 $2k\``],
  [new RegExp(`${VALUE}m(?:b\\S*)? `, "i"), `${ONE_WORD} \`$1 $2M\``],
  [new RegExp(`${VALUE}db `, "i"), `${ONE_WORD} \`$1 $2dB\``],
  [/^ (-(?:c|codec|b|q|r|filter|profile|frames)) ([vas]) (\S+)/, `${ONE_WORD} \`$1:$2 $3\``],
  [
    /^ (-map|-metadata\S*) \S+ (\[\S+\]|\d+(?::\S*)?|\w+=\S+) /,
    "`$2` has no option before it; write `$1 $2`",
  ],
  [
    new RegExp(String.raw`^ (-metadata\S*) (\w+) ?= ?(${WORDS}|\S+)`),
    'a value is one word, and quotes keep its spaces; write `$1 $2="$3"`',
  ],
]

/**
 * Returns a refusal of the first stray word, which is neither an option nor an option's value.
 * ffmpeg would read such a word as an output.
 */
function explainStrays(text: CommandText): CommandRefusal[] {
  const place = findStray(text)
  if (place < 0) return []
  const { words } = text
  const [option = "", before = ""] = [words[place - 2], words[place - 1]]
  const line = joinWordsWithSpaces([option, before, ...words.slice(place)])
  return [
    findRefusalByLineHints(line, STRAYS, "invalid_option") ??
      splitGraph(option, line, text) ??
      strayWord(words[place] ?? "", text),
  ]
}

function findStray({ words, outputKeys, inputKeys, capabilities }: CommandText): number {
  const { files } = parseFfmpegCommand(words)
  const stray = files.find((file, index) => {
    const { kind, word, options } = file
    if (kind !== "output" || word === "-" || word === "/dev/null") return false
    if ([...outputKeys, ...inputKeys].includes(removePlaceholderBraces(word))) return false
    if (options.some(({ name }) => name === "f")) return false
    const isFile =
      /^[\w./\\~-]+\.\w+$/.test(word) &&
      (!capabilities || findOutputMuxers(file, capabilities) !== null)
    const mayBeName = index === files.length - 1 && /^(?!\d)[\w.{}/\\~:-]{3,}$/.test(word)
    return !isFile && !mayBeName
  })
  return stray === undefined ? -1 : words.indexOf(stray.word)
}

/**
 * Returns the refusal of a filter graph that the caller wrote with spaces and without quotes, so
 * that it became several words.
 */
function splitGraph(option: string, line: string, text: CommandText): CommandRefusal | null {
  if (!/^-[a-z]/i.test(option) || findOptionValueKind(parseOptionName(option)) !== "graph")
    return null
  const value = new RegExp(`^ \\S+ (${WORDS})`).exec(line)?.[1] ?? ""
  const graph = value.replaceAll(BLANK_PLACEHOLDER, " ")
  const correction = describeGraphCorrection(option, graph, text)
  const message =
    correction === null
      ? `a space splits the graph of ${quoteForMessage(option)}; put the whole graph in double quotes: ${quoteForMessage(`${option} "${graph.replaceAll('"', "'")}"`)}`
      : `${option}: ${correction}`
  return { code: "filter_error", option, message }
}

function strayWord(word: string, text: CommandText): CommandRefusal {
  const isEnded = text.outputKeys.includes(removePlaceholderBraces(text.words.at(-1) ?? ""))
  const end = isEnded
    ? ""
    : `, and end the command with \`${makeExamplePlaceholders(text)["out"]}\``
  const message = `${quoteForMessage(word)} belongs to no option, so ffmpeg takes it for an output; leave it out, or write its option before it${end}`
  return { code: "name_not_allowed", message }
}

/** Example values of ffmpeg options, for messages about a missing value. */
const EXAMPLES = buildAliasMap([
  ["-c:v -vcodec -c -codec", "libx264"],
  ["-c:a -acodec", "aac"],
  ["-vf -filter:v", "scale=1280:-2"],
  ["-af -filter:a", "volume=0.5"],
  ["-ss -t -to", "10"],
  ["-map", "0:v"],
  ["-crf", "23"],
  ["-preset", "fast"],
  ["-b:v", "2M"],
  ["-b:a", "128k"],
  ["-r", "30"],
  ["-s", "1280x720"],
  ["-f", "mp4"],
  ["-i", "{{in_1}}"],
])
const REFUSALS_SHOWN_MAX = 20

type PlacedOption = { option: CommandOption; file: CommandFile }

/**
 * Returns refusals of unknown options, and of options without a value, for which ffmpeg would take
 * the next word as the value.
 */
function explainOptions(text: CommandText): CommandRefusal[] {
  const found: CommandRefusal[] = []
  for (const placedOption of placedOptions(text)) {
    if (found.length >= REFUSALS_SHOWN_MAX) break
    const refusal = unknownOption(placedOption, text) ?? missingValue(placedOption.option, text)
    if (refusal) found.push(refusal)
  }
  return found
}

/** Returns the options of a command, including -i, each with the file to which it applies. */
function placedOptions({ words }: CommandText): PlacedOption[] {
  const { files, trailing, incompleteOption } = parseFfmpegCommand(words)
  const last = { kind: "output" as const, word: "", options: [], at: words.length }
  const incomplete =
    incompleteOption === null
      ? []
      : [
          {
            word: incompleteOption,
            name: parseOptionName(incompleteOption),
            value: null,
            at: words.length - 1,
          },
        ]
  return [
    ...files.flatMap((file) => {
      const input = { word: "-i", name: "i", value: file.word, at: file.at }
      const options = file.kind === "input" ? [...file.options, input] : file.options
      return options.map((option) => ({ option, file }))
    }),
    ...[...trailing, ...incomplete].map((option) => ({ option, file: last })),
  ]
}

function unknownOption(
  { option, file }: PlacedOption,
  { capabilities }: CommandText,
): CommandRefusal | null {
  const isJoined = /^-[a-z][\w:-]*=|^-c(?:odec)?:[vas]:[a-z]/i.test(option.word)
  if (!capabilities || option.word === "-i" || findOptionRefusalReason(option.name)) return null
  if (isKnownOption(option.name, capabilities) && !isJoined) return null
  const message = `${quoteForMessage(option.word)}: ${describeUnknownOption(option, file, capabilities)}`
  return { code: "invalid_option", option: option.word, message }
}

/**
 * Returns a refusal of an option that lacks its value, because the command ends after the option,
 * or the next word is another option or the output.
 */
function missingValue(
  { word, name, value }: CommandOption,
  text: CommandText,
): CommandRefusal | null {
  const { words } = text
  if (!word.startsWith("-") || findOptionValueKind(name) === "text") return null
  const isMissing =
    value === null
      ? words.at(-1) === word && parseFfmpegCommand(words).incompleteOption === word
      : isMisreadValue(name, value, text)
  if (!isMissing) return null
  const what = value === null ? "the command ends after it" : `${quoteForMessage(value)} follows it`
  const example = EXAMPLES.get(word)
  const instead =
    example === undefined ? "write one after it" : `write one, as in \`${word} ${example}\``
  return {
    code: "missing_value",
    option: word,
    message: `${quoteForMessage(word)} has no value: ${what}; ${instead}`,
  }
}

function isMisreadValue(
  name: string,
  value: string,
  { capabilities, outputKeys, words }: CommandText,
): boolean {
  if (/^-[a-z]/i.test(value)) {
    const inner = parseOptionName(value)
    return inner === "i" || (capabilities !== null && isKnownOption(inner, capabilities))
  }
  const isOutput = words.at(-1) === value && outputKeys.includes(removePlaceholderBraces(value))
  return isOutput && name !== "i" && findOptionValueKind(name) !== "write"
}
