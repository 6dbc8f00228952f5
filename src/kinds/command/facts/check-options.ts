import type { ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { didYouMean } from "../../../hints/nearest-name.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { encoderOf, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { findOption } from "./known.ts"
import type { Known, KnownOption } from "./known.ts"
import { expectedName, expectedOf } from "./named-values.ts"
import { describeUnknown, findGeneric, isKnownOption } from "./option-words.ts"
import { encoderChoices } from "./own-options.ts"

const MEDIA: readonly Medium[] = ["V", "A", "S"]
/** Types of the values of ffmpeg's own options. */
const OWN_TYPES: Record<string, string> = { pix_fmt: "p", sample_fmt: "a", ch_layout: "l" }

/** Refuses options that ffmpeg has not, and words that an option of names has not. */
export function checkOptions(file: ReadFile, known: Known): Refusal[] {
  return firstFaults(file.options, (option) => {
    const message = isKnownOption(option.name, known)
      ? describeValue(option, file, known)
      : describeUnknown(option, file, known)
    return message === null ? [] : [refuse(option, message)]
  })
}

/** Refuses an option behind the last output that ffmpeg has not. */
export function checkTrailing(option: ReadOption, known: Known): Refusal[] {
  if (isKnownOption(option.name, known)) return []
  const file = { kind: "output" as const, word: "", options: [] }
  return [refuse(option, describeUnknown(option, file, known))]
}

function refuse({ word }: ReadOption, message: string): Refusal {
  return { code: "invalid_option", option: word, message: `${word}: ${message}` }
}

function describeValue(option: ReadOption, file: ReadFile, known: Known): string | null {
  const { name, value } = option
  // A value with a backslash or a quote left is not what ffmpeg would see.
  if (value === null || /[\\'"]/.test(value)) return null
  if (name === "bsf") return describeListed("bitstream filter", value, known.names("bsfs"), ",")
  if (name === "disposition") {
    return describeListed("disposition", value, known.names("dispositions"), /[+-]/)
  }
  const encoders = file.kind === "output" ? encodersOf(option, file, known) : []
  const [choices, ...more] = encoders.flatMap((each) => [encoderChoices(each ?? "", name) ?? []])
  if (choices && choices.length > 0 && more.every((each) => each.length === 0)) {
    const wrong = value.split(/[,./+]/).find((part) => !choices.includes(part))
    return wrong === undefined ? null : `${quote(wrong)}: ${expectedOf(wrong, choices)}`
  }
  const expected = expectedName(optionsNamed(name, { encoders, file, known }), value, known)
  return expected === null ? null : `${quote(value)}: ${expected}`
}

/** The first name of a list, joined by a separator, that ffmpeg has not. */
function describeListed(
  what: string,
  value: string,
  names: ReadonlySet<string>,
  separator: string | RegExp,
): string | null {
  const given = value.split(separator).map((part) => part.split("=", 1)[0] ?? "")
  const wrong = given.find((name) => /^[a-z_]\w*$/i.test(name) && !names.has(name))
  if (wrong === undefined) return null
  return `there is no ${what} ${quote(wrong)}${didYouMean(wrong, names)}`
}

/** The encoders of the streams that an option is for; null for each that is not known. */
function encodersOf(option: ReadOption, file: ReadFile, known: Known): (string | null)[] {
  const medium = mediumOf(option)
  return (medium === null ? MEDIA : [medium]).map((each) => encoderOf(file, each, known))
}

type Owners = { encoders: readonly (string | null)[]; file: ReadFile; known: Known }

/** The options of ffmpeg, encoders, formats and scalers that a name may mean; none where more may be meant. */
function optionsNamed(name: string, { encoders, file, known }: Owners): KnownOption[] {
  const type = Object.hasOwn(OWN_TYPES, name) ? OWN_TYPES[name] : undefined
  if (type !== undefined) return [{ names: [name], type, sides: "", constants: [] }]
  const own = encoders.map((each) => {
    return findOption(known.find("encoders", each ?? "")?.options ?? [], name)
  })
  const ofEncoders = own.filter((each) => each !== null)
  if (ofEncoders.length > 0) return ofEncoders
  // An encoder that is not known may have an option of its own, and a profile's names are in no help.
  const isSure = encoders.length !== 1 || encoders[0] !== null
  if (/^(?:profile|level)$/.test(name)) return []
  const codec = findGeneric(["codec", "sws", "swr"], name, known)
  if (codec) return isSure ? [codec] : []
  const muxers = file.kind === "output" ? muxersOf(file, known) : null
  const ofMuxers = muxers?.map((each) => findOption(each.options, name)) ?? []
  const [muxer] = ofMuxers
  if (ofMuxers.length > 1) return []
  const format = muxer ?? findGeneric(["format"], name, known)
  return format ? [format] : []
}
