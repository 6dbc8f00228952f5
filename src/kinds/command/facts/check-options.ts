import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { didYouMean } from "../../../suggest.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { encoderOf, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { findOption } from "./known.ts"
import type { Known, KnownOption } from "./known.ts"
import { describeUnknown, findGeneric, isKnownOption } from "./option-words.ts"
import { choicesOf, encoderChoices, sideOf, valueTypeOf } from "./own-options.ts"
import type { ValueType } from "./own-options.ts"
import { expectedInstead, expectedPixelFormat, expectedTime, isRatio, listOf } from "./values.ts"
import { readNumber } from "./evaluate.ts"

const MEDIA: readonly Medium[] = ["V", "A", "S"]
/** Names before which the specifier says of what, and not of which streams. */
const OTHER_SPECIFIERS = /^(?:metadata|map_metadata|program|stream_group|dump_attachment)$/
const SPECIFIER =
  /^(?:(?:[vVasdtu]|\d+|p:(?:0x)?[\da-f]+|g:.+|#(?:0x)?[\da-f]+|i:(?:0x)?[\da-f]+|m:.+|disp:.+)(?::|$))*$/i

/** What no ffmpeg would take of the options of a file. */
export function checkOptions(file: ReadFile, known: Known): Refusal[] {
  return firstFaults(file.options, (option) => {
    const message = describeWrong(option, file, known)
    return message === null
      ? []
      : [
          {
            code: "invalid_option" as const,
            option: option.word,
            message: `${option.word}: ${message}`,
          },
        ]
  })
}

/** What is wrong with an option that stands behind the last output, where it is for all of the command. */
export function checkTrailing(option: ReadOption, known: Known): Refusal[] {
  const file = { kind: "output" as const, word: "", options: [] }
  if (isKnownOption(option.name, known)) return []
  const message = `${option.word}: ${describeUnknown(option, file, known)}`
  return [{ code: "invalid_option", option: option.word, message }]
}

function describeWrong(option: ReadOption, file: ReadFile, known: Known): string | null {
  const { name, word, value } = option
  if (!isKnownOption(name, known)) return describeUnknown(option, file, known)
  const side = sideOf(name)
  if (side === "input" && file.kind === "output") {
    return "it is for an input; put it before the -i of that"
  }
  if (side === "output" && file.kind === "input") {
    return "it is for an output; put it behind the inputs, before the output that it is for"
  }
  const specifier = word.slice(name.length + 2)
  if (!OTHER_SPECIFIERS.test(name) && !SPECIFIER.test(specifier)) {
    const letter = /^[as]/i.exec(specifier)?.[0].toLowerCase() ?? "v"
    return `${quote(specifier)} names no streams; write v, a, s or a number there, as in -${name}:${letter}`
  }
  if (value === null) return null
  const own = describeOwnValue(name, value, known)
  if (own !== undefined) return own
  return file.kind === "output"
    ? describeForOutput(option, value, { file, known })
    : describeForInput(option, value, known)
}

/** What is wrong with the value of an option of ffmpeg's own; undefined where it is none of those. */
function describeOwnValue(name: string, value: string, known: Known): string | null | undefined {
  const choices = choicesOf(name)
  if (choices) {
    return choices.includes(value)
      ? null
      : `${quote(value)}: expected ${listOf(choices)}${didYouMean(value, choices)}`
  }
  const type = valueTypeOf(name)
  if (type === null) return undefined
  const expected = expectedOfOwn(type, value, known)
  return expected === null ? null : `${quote(value)}: ${expected}`
}

function expectedOfOwn(type: ValueType, value: string, known: Known): string | null {
  switch (type) {
    case "whole":
    case "number": {
      const number = readNumber(value)
      if (number === null) return `expected a ${type === "whole" ? "whole " : ""}number`
      return type === "whole" && !Number.isInteger(number) ? "expected a whole number" : null
    }
    case "t":
      return value === "now" ? null : expectedTime(value)
    case "p":
      return expectedPixelFormat(value, known)
    case "aspect":
      return isRatio(value) ? null : "expected a ratio, as 16:9 or 1.7777"
    case "ratio":
      return /^[a-z]+$|^\d+[-x]\d+$/i.test(value) && !/^(?:demux|filter)$/.test(value)
        ? "expected a ratio, as 16:9 or 1.7777"
        : null
    default: {
      const plain = { names: [], sides: "", least: -Infinity, most: Infinity, constants: [] }
      return value === "none" ? null : expectedInstead({ ...plain, type }, value, known)
    }
  }
}

type Place = { file: ReadFile; known: Known }

function describeForOutput(option: ReadOption, value: string, place: Place): string | null {
  const { name } = option
  const { file, known } = place
  const medium = mediumOf(option)
  const media = medium === null ? MEDIA : [medium]
  const encoders = media.map((each) => encoderOf(file, each, known))
  const owners = encoders.filter((encoder): encoder is string => {
    return encoder !== null && findOption(entryOf(encoder, known), name) !== null
  })
  const [owner] = owners
  if (owner !== undefined) {
    if (owners.length > 1) return null
    return describeEncoderValue(owner, name, value, known)
  }
  const generic = findGeneric(["codec"], name, known)
  const format = findGeneric(["format"], name, known)
  const wrong = wrongSide([generic, findGeneric(["codecs"], name, known)], "E", format)
  if (wrong) return "it is for an input; put it before the -i of that, or leave it out"
  if (generic) {
    const [encoder, ...others] = encoders
    if (/^(?:profile|level)$/.test(name) && /^[a-z\d_]*[a-z]/i.test(value)) {
      return encoder && others.length === 0 ? describeProfile(name, value, encoder) : null
    }
    // An encoder that is not known may have an option of its own by that name.
    const isSure = encoders.every((encoder) => encoder !== null) || medium === null
    return isSure ? describeValue(generic, value, known) : null
  }
  const scaler = findGeneric(["sws", "swr"], name, known)
  if (scaler) return describeValue(scaler, value, known)
  const owned = muxersOf(file, known)?.map((muxer) => findOption(muxer.options, name)) ?? []
  const [own] = owned
  if (own && owned.length === 1) return describeValue(own, value, known)
  // One that its format has not is left aside, and said.
  return format && own === null ? describeValue(format, value, known) : null
}

/** Names of profiles and levels stand in no help. */
function describeProfile(name: string, value: string, encoder: string): string | null {
  const choices = encoderChoices(encoder, name)
  if (!choices || choices.includes(value)) return null
  return `${quote(value)} is nothing that ${encoder} takes there: expected ${listOf(choices)}${didYouMean(value, choices)}`
}

function describeForInput(option: ReadOption, value: string, known: Known): string | null {
  const { name } = option
  const codec = findGeneric(["codec"], name, known)
  const codecs = findGeneric(["codecs"], name, known)
  const format = findGeneric(["format"], name, known)
  const formats = findGeneric(["formats"], name, known)
  if (wrongSide([codec, codecs, format, formats], "D", null)) {
    return "it is for an output; put it behind the inputs, before the output that it is for"
  }
  const [only, ...more] = [codec, codecs, format, formats].filter((each) => each !== null)
  return only && more.length === 0 ? describeValue(only, value, known) : null
}

/** Whether options of this name are all for the other side; one that is said to be for none counts as both. */
function wrongSide(
  found: readonly (KnownOption | null)[],
  side: "E" | "D",
  other: KnownOption | null,
): boolean {
  const options = found.filter((each) => each !== null)
  if (options.length === 0 || other?.sides.includes(side) === true) return false
  return options.every(({ sides }) => sides !== "" && !sides.includes(side))
}

function entryOf(encoder: string, known: Known): readonly KnownOption[] {
  return known.find("encoders", encoder)?.options ?? []
}

function describeEncoderValue(
  encoder: string,
  name: string,
  value: string,
  known: Known,
): string | null {
  const choices = encoderChoices(encoder, name)
  if (choices) {
    const wrong = value.split(/[,./+]/).find((part) => !choices.includes(part))
    if (wrong === undefined) return null
    return `${quote(wrong)} is nothing that ${encoder} takes there: expected ${listOf(choices)}${didYouMean(wrong, choices)}`
  }
  const option = findOption(entryOf(encoder, known), name)
  const expected = option && expectedInstead(option, value, known)
  return expected ? `${quote(value)} is nothing that ${encoder} takes there: ${expected}` : null
}

function describeValue(option: KnownOption, value: string, known: Known): string | null {
  const expected = expectedInstead(option, value, known)
  return expected === null ? null : `${quote(value)}: ${expected}`
}
