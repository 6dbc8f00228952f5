import { nameOf, readCommand } from "../../contract/command-line.ts"
import type { ReadFile, ReadOption } from "../../contract/command-line.ts"
import { describeUnknown, isKnownOption } from "../../kinds/command/facts/option-words.ts"
import { kindOfOption, reasonAgainstOption } from "../../kinds/command/policy/options.ts"
import type { Refusal } from "../../kinds/command/policy/refusal.ts"
import { aliases, shown } from "../hint-table.ts"
import { keyOf } from "./line.ts"
import type { Written } from "./line.ts"

/** Values of options as examples. */
const EXAMPLES = aliases([
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

type PlacedOption = { option: ReadOption; file: ReadFile }

/** Options that ffmpeg does not have, and options without a value, which take another word for it. */
export function explainOptions(written: Written): Refusal[] {
  const found: Refusal[] = []
  for (const placed of placedOptions(written)) {
    if (found.length >= REFUSALS_SHOWN_MAX) break
    const refusal = unknownOption(placed, written) ?? missingValue(placed.option, written)
    if (refusal) found.push(refusal)
  }
  return found
}

/** The options of a command with the files that they are for, -i included. */
function placedOptions({ words }: Written): PlacedOption[] {
  const { files, trailing, lacking } = readCommand(words)
  const last = { kind: "output" as const, word: "", options: [] }
  const open = lacking === null ? [] : [{ word: lacking, name: nameOf(lacking), value: null }]
  return [
    ...files.flatMap((file) => {
      const input = { word: "-i", name: "i", value: file.word }
      const options = file.kind === "input" ? [...file.options, input] : file.options
      return options.map((option) => ({ option, file }))
    }),
    ...[...trailing, ...open].map((option) => ({ option, file: last })),
  ]
}

function unknownOption({ option, file }: PlacedOption, { known }: Written): Refusal | null {
  const isJoined = /^-[a-z][\w:-]*=|^-c(?:odec)?:[vas]:[a-z]/i.test(option.word)
  if (!known || option.word === "-i" || reasonAgainstOption(option.name)) return null
  if (isKnownOption(option.name, known) && !isJoined) return null
  const message = `${shown(option.word)}: ${describeUnknown(option, file, known)}`
  return { code: "invalid_option", option: option.word, message }
}

/** An option whose value is another option or the output of the command, or that ends the command. */
function missingValue({ word, name, value }: ReadOption, written: Written): Refusal | null {
  const { words } = written
  if (!word.startsWith("-") || kindOfOption(name) === "text") return null
  const isMissing =
    value === null
      ? words.at(-1) === word && readCommand(words).lacking === word
      : isNoValue(name, value, written)
  if (!isMissing) return null
  const what = value === null ? "the command ends behind it" : `${shown(value)} follows it`
  const example = EXAMPLES.get(word)
  const instead =
    example === undefined ? "write one after it" : `write one, as \`${word} ${example}\``
  return {
    code: "missing_value",
    option: word,
    message: `${shown(word)} has no value: ${what}; ${instead}`,
  }
}

function isNoValue(name: string, value: string, { known, outputKeys, words }: Written): boolean {
  if (/^-[a-z]/i.test(value)) {
    const inner = nameOf(value)
    return inner === "i" || (known !== null && isKnownOption(inner, known))
  }
  const isOutput = words.at(-1) === value && outputKeys.includes(keyOf(value))
  return isOutput && name !== "i" && kindOfOption(name) !== "write"
}
