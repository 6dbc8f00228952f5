import type { CommandFile, CommandOption } from "../../../ffmpeg/command-line.ts"
import { makeDidYouMeanClause } from "../../../hints/nearest-name.ts"
import { collectFaults, quoteShortenedValue } from "../../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import { findEncoder, findOptionStreamType, findOutputMuxers } from "./codecs.ts"
import type { StreamType } from "./codecs.ts"
import { findOption } from "./capabilities.ts"
import type { FfmpegCapabilities, FfmpegOption } from "./capabilities.ts"
import { describeWrongOptionValue, describeExpectedNames } from "./value-names.ts"
import { describeUnknownOption, findGenericOption, isKnownOption } from "./known-options.ts"
import { listEncoderOptionValues } from "./unlisted-options.ts"

const MEDIA: readonly StreamType[] = ["V", "A", "S"]
/**
 * Options that belong to ffmpeg itself and not to its libraries, and whose values are names from a
 * list. Each letter selects a list in value-names.ts, such as `p` for pixel formats.
 */
const OWN_TYPES: Record<string, string> = { pix_fmt: "p", sample_fmt: "a", ch_layout: "l" }

/** Returns refusals of a file's unknown options, and of values that an option does not accept. */
export function findOptionRefusals(
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): CommandRefusal[] {
  return collectFaults(file.options, (option) => {
    const message = isKnownOption(option.name, capabilities)
      ? describeValue(option, file, capabilities)
      : describeUnknownOption(option, file, capabilities)
    return message === null ? [] : [refuse(option, message)]
  })
}

/** Returns a refusal of an unknown option that stands after the last output. */
export function findTrailingOptionRefusals(
  option: CommandOption,
  capabilities: FfmpegCapabilities,
): CommandRefusal[] {
  if (isKnownOption(option.name, capabilities)) return []
  const file = { kind: "output" as const, word: "", options: [], at: -1 }
  return [refuse(option, describeUnknownOption(option, file, capabilities))]
}

function refuse({ word }: CommandOption, message: string): CommandRefusal {
  return { code: "invalid_option", option: word, message: `${word}: ${message}` }
}

function describeValue(
  option: CommandOption,
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): string | null {
  const { name, value } = option
  // Values with quotes or backslashes are not checked, because ffmpeg would still unescape them.
  if (value === null || /[\\'"]/.test(value)) return null
  if (name === "bsf")
    return describeListed("bitstream filter", value, capabilities.names("bsfs"), ",")
  if (name === "disposition") {
    return describeListed("disposition", value, capabilities.names("dispositions"), /[+-]/)
  }
  const encoders = file.kind === "output" ? encodersOf(option, file, capabilities) : []
  const [choices, ...more] = encoders.flatMap((each) => [
    listEncoderOptionValues(each ?? "", name) ?? [],
  ])
  if (choices && choices.length > 0 && more.every((each) => each.length === 0)) {
    const wrong = value.split(/[,./+]/).find((part) => !choices.includes(part))
    return wrong === undefined
      ? null
      : `${quoteShortenedValue(wrong)}: ${describeExpectedNames(wrong, choices)}`
  }
  const expected = describeWrongOptionValue(
    optionsNamed(name, { encoders, file, capabilities }),
    value,
    capabilities,
  )
  return expected === null ? null : `${quoteShortenedValue(value)}: ${expected}`
}

/** Describes the first name of a list that ffmpeg does not know; null if all names are known. */
function describeListed(
  what: string,
  value: string,
  names: ReadonlySet<string>,
  separator: string | RegExp,
): string | null {
  const words = value.split(separator).map((part) => part.split("=", 1)[0] ?? "")
  const wrong = words.find((name) => /^[a-z_]\w*$/i.test(name) && !names.has(name))
  if (wrong === undefined) return null
  return `ffmpeg has no ${what} ${quoteShortenedValue(wrong)}${makeDidYouMeanClause(wrong, names)}`
}

/** Returns the encoders of the streams to which an option applies. Each unknown encoder is null. */
function encodersOf(
  option: CommandOption,
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): (string | null)[] {
  const medium = findOptionStreamType(option)
  return (medium === null ? MEDIA : [medium]).map((each) => findEncoder(file, each, capabilities))
}

type Owners = {
  encoders: readonly (string | null)[]
  file: CommandFile
  capabilities: FfmpegCapabilities
}

/**
 * Returns the options to which a name may refer, among those of ffmpeg, encoders, formats and
 * scalers. Returns an empty list if the name could mean different options.
 */
function optionsNamed(name: string, { encoders, file, capabilities }: Owners): FfmpegOption[] {
  const type = Object.hasOwn(OWN_TYPES, name) ? OWN_TYPES[name] : undefined
  if (type !== undefined) return [{ names: [name], type, sides: "", constants: [] }]
  const own = encoders.map((each) => {
    return findOption(capabilities.find("encoders", each ?? "")?.options ?? [], name)
  })
  const ofEncoders = own.filter((each) => each !== null)
  if (ofEncoders.length > 0) return ofEncoders
  // If an encoder is unknown, the options that all codecs share are not checked, because the
  // encoder may have its own option of the same name. Profiles and levels are not checked, because
  // their shared names do not fit every encoder.
  const isSure = encoders.length !== 1 || encoders[0] !== null
  if (/^(?:profile|level)$/.test(name)) return []
  const codec = findGenericOption(["codec", "sws", "swr"], name, capabilities)
  if (codec) return isSure ? [codec] : []
  const muxers = file.kind === "output" ? findOutputMuxers(file, capabilities) : null
  const ofMuxers = muxers?.map((each) => findOption(each.options, name)) ?? []
  const [muxer] = ofMuxers
  if (ofMuxers.length > 1) return []
  const format = muxer ?? findGenericOption(["format"], name, capabilities)
  return format ? [format] : []
}
