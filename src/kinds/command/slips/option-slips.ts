import { nameOf, readCommand } from "../../../contract/command-line.ts"
import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { describeUnknown, isKnownOption } from "../facts/option-words.ts"
import { kindOfOption, reasonAgainstOption } from "../policy/options.ts"
import type { Refusal } from "../policy/refusal.ts"
import { keyOf, shown } from "./written.ts"
import type { Written } from "./written.ts"

/** What an option that lacks its value may have, by the beginning of its word. */
const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/^-(?:c:v|vcodec|c|codec)$/, "libx264"],
  [/^-(?:c:a|acodec)$/, "aac"],
  [/^-(?:vf|filter:v)$/, "scale=1280:-2"],
  [/^-(?:af|filter:a)$/, "volume=0.5"],
  [/^-(?:ss|t|to)$/, "10"],
  [/^-map$/, "0:v"],
  [/^-crf$/, "23"],
  [/^-preset$/, "fast"],
  [/^-b:v$/, "2M"],
  [/^-b:a$/, "128k"],
  [/^-r$/, "30"],
  [/^-s$/, "1280x720"],
  [/^-f$/, "mp4"],
  [/^-i$/, "{{in_1}}"],
]

/** More would tell a caller nothing. */
const TOLD_MAX = 20

type Placed = { option: ReadOption; file: ReadFile }

/** Options that there are not, and those whose value is missing, so that they took another word for it. */
export function explainOptions(written: Written): Refusal[] {
  const placed = placedOptions(written)
  const found: Refusal[] = []
  for (const each of placed) {
    if (found.length >= TOLD_MAX) break
    const unknown = unknownOption(each, written)
    found.push(...(unknown.length > 0 ? unknown : lackOf(each.option, written)))
  }
  return found
}

/** The options of a command with the files that they are for, inputs behind -i as options too. */
function placedOptions({ words }: Written): Placed[] {
  const { files, trailing, lacking } = readCommand(words)
  const last = { kind: "output" as const, word: "", options: [] }
  const open = lacking === null ? [] : [{ word: lacking, name: nameOf(lacking), value: null }]
  return [
    ...files.flatMap((file) => [
      ...file.options.map((option) => ({ option, file })),
      ...(file.kind === "input" ? [{ option: inputOption(file), file }] : []),
    ]),
    ...[...trailing, ...open].map((option) => ({ option, file: last })),
  ]
}

function inputOption({ word }: ReadFile): ReadOption {
  return { word: "-i", name: "i", value: word }
}

/** An option that no ffmpeg has, and that took the word behind it. */
function unknownOption({ option, file }: Placed, { known }: Written): Refusal[] {
  const isJoined = /^-[a-z][\w:-]*=|^-c(?:odec)?:[vas]:[a-z]/i.test(option.word)
  if (!known || option.word === "-i" || reasonAgainstOption(option.name)) return []
  if (isKnownOption(option.name, known) && !isJoined) return []
  const message = `${shown(option.word)}: ${describeUnknown(option, file, known)}`
  return [{ code: "invalid_option", option: option.word, message }]
}

/** An option whose value is another option, or the command's output. */
function lackOf(option: ReadOption, written: Written): Refusal[] {
  const { word, name, value } = option
  if (!word.startsWith("-") || kindOfOption(name) === "text") return []
  if (value !== null && !isTaken(option, value, written)) return []
  if (value === null && !isOpen(option, written)) return []
  const what = value === null ? "the command ends behind it" : `${shown(value)} follows it`
  const example = EXAMPLES.find(([pattern]) => pattern.test(word))?.[1]
  const instead =
    example === undefined ? "write one after it" : `write one, as \`${word} ${example}\``
  return [
    {
      code: "missing_value",
      option: word,
      message: `${shown(word)} has no value: ${what}; ${instead}`,
    },
  ]
}

/** Whether a value is one by accident. */
function isTaken({ name }: ReadOption, value: string, written: Written): boolean {
  const { known, outputKeys, words } = written
  const inner = nameOf(value)
  if (/^-[a-z]/i.test(value)) {
    return inner === "i" || (known !== null && isKnownOption(inner, known))
  }
  const isLast = words.at(-1) === value && outputKeys.includes(keyOf(value))
  return isLast && name !== "i" && kindOfOption(name) !== "write"
}

/** Whether an option stands at the end, and is one that takes a value. */
function isOpen({ word }: ReadOption, { words }: Written): boolean {
  return words.at(-1) === word && readCommand(words).lacking === word
}
