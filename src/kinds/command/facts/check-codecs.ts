import { findLastOptionValue } from "../../../ffmpeg/command-line.ts"
import type { CommandFile } from "../../../ffmpeg/command-line.ts"
import { findCodecRefusalReason } from "../../../ffmpeg/policy/codecs.ts"
import {
  findInputFormatRefusalReason,
  findOutputFormatRefusalReason,
} from "../../../ffmpeg/policy/formats.ts"
import { collectFaults, quoteShortenedValue } from "../../../ffmpeg/policy/refusal.ts"
import type { CommandRefusal } from "../../../ffmpeg/policy/refusal.ts"
import {
  isCodecOption,
  listCodecs,
  STREAM_TYPE_NAMES,
  findOptionStreamType,
  findOutputMuxers,
} from "./codecs.ts"
import type { StreamType } from "./codecs.ts"
import { findCodecRemedy } from "./containers.ts"
import { getComponentMetaValues } from "./capabilities.ts"
import type { FfmpegCapabilities } from "./capabilities.ts"
import { suggestComponentName, suggestEncoder, suggestExtension } from "./name-suggestions.ts"

/**
 * Returns refusals of a file's unknown formats and codecs, and of codecs that the output format
 * cannot hold.
 */
export function findCodecRefusals(
  file: CommandFile,
  capabilities: FfmpegCapabilities,
): CommandRefusal[] {
  if (file.kind === "decoder") return []
  const codecs = checkNames(file, capabilities)
  const format = checkFormat(file, capabilities)
  if (file.kind === "input" || codecs.length > 0 || format.length > 0) return [...format, ...codecs]
  return checkContainer(file, capabilities)
}

function checkFormat(file: CommandFile, capabilities: FfmpegCapabilities): CommandRefusal[] {
  const format = findLastOptionValue(file, "f")
  if (format === null) return file.kind === "input" ? [] : checkExtension(file, capabilities)
  const isInput = file.kind === "input"
  const reason = isInput
    ? findInputFormatRefusalReason(format)
    : findOutputFormatRefusalReason(format)
  const names = capabilities.names(isInput ? "demuxers" : "muxers")
  // The value of -f before an input may be a list of format names, such as `mov,mp4`.
  const requested = isInput ? format.split(",") : [format]
  if (reason || requested.some((name) => names.has(name.toLowerCase()))) return []
  const others = capabilities.names(isInput ? "muxers" : "demuxers")
  const verb = isInput ? "read" : "write"
  const isOther = others.has(format.toLowerCase())
  const what = isOther ? `ffmpeg cannot ${verb} this format` : "ffmpeg has no such format"
  const isEncoder = format.startsWith("lib") && capabilities.find("encoders", format) !== null
  const instead = isEncoder ? "; it is an encoder, so write -c:v or -c:a before it" : ""
  const message = `-f: ${quoteShortenedValue(format)}: ${what}${instead || suggestComponentName("formats", format.split(",", 1)[0] ?? "", names)}`
  return [{ code: "invalid_option", option: "-f", message }]
}

/** Returns a refusal of an output that has no `-f` and whose extension belongs to no format. */
function checkExtension(file: CommandFile, capabilities: FfmpegCapabilities): CommandRefusal[] {
  const { word } = file
  if (findOutputMuxers(file, capabilities) || word === "/dev/null" || /^(?:-|pipe:)/.test(word))
    return []
  const extension = /\.([^.]+)$/.exec(word)?.[1]
  const extensions = [...capabilities.names("muxers")].flatMap((name) => {
    const entry = capabilities.find("muxers", name)
    return entry ? getComponentMetaValues(entry, "x") : []
  })
  const what =
    extension === undefined
      ? `the output ${quoteShortenedValue(word)} has no extension, so its format is unknown; add an extension, as in ${word}.mp4, or write -f before the output, as in -f mp4`
      : `no format has the extension of the output ${quoteShortenedValue(word)}${suggestExtension(extension, extensions) || "; use another extension, such as .mp4, or write -f before the output, as in -f mp4"}`
  return [{ code: "invalid_option", message: what }]
}

function checkNames(file: CommandFile, capabilities: FfmpegCapabilities): CommandRefusal[] {
  return collectFaults(file.options, (option) => {
    const { name, word, value } = option
    if (!isCodecOption(name) || value === null || value === "copy") return []
    if (findCodecRefusalReason(value)) return []
    const message =
      file.kind === "input"
        ? describeDecoder(value, capabilities)
        : describeEncoder(value, findOptionStreamType(option), capabilities)
    const code = file.kind === "input" ? "decoder_not_found" : "encoder_not_found"
    return message === null ? [] : [{ code, option: word, message: `${word}: ${message}` } as const]
  })
}

function describeDecoder(value: string, capabilities: FfmpegCapabilities): string | null {
  const codecs = listCodecs(capabilities, "decodable")
  if (capabilities.names("decoders").has(value) || codecs.has(value)) return null
  const near = suggestComponentName("decoders", value, [
    ...capabilities.names("decoders"),
    ...codecs.keys(),
  ])
  const isEncoder = capabilities.names("encoders").has(value)
  const what = isEncoder
    ? "this encoder cannot decode an input; write it after the inputs, before the output"
    : "ffmpeg has no such decoder"
  return `${quoteShortenedValue(value)}: ${what}${isEncoder ? "" : near}`
}

function describeEncoder(
  value: string,
  medium: StreamType | null,
  capabilities: FfmpegCapabilities,
): string | null {
  const codecs = listCodecs(capabilities, "encodable")
  const entry = capabilities.find("encoders", value)
  const encoderMedium = entry?.meta.charAt(0) ?? codecs.get(value)
  if (encoderMedium === undefined) {
    const isKnown = capabilities.names("decoders").has(value)
    const what = isKnown ? "ffmpeg can only decode this codec" : "ffmpeg has no such encoder"
    const names = [...capabilities.names("encoders"), ...codecs.keys()]
    return `${quoteShortenedValue(value)}: ${what}${isKnown ? "; use another encoder" : suggestEncoder(value, medium, names)}`
  }
  if (medium === null || encoderMedium === medium || !/[VAS]/.test(encoderMedium)) return null
  const ownMedium =
    Object.entries(STREAM_TYPE_NAMES).find(([letter]) => letter === encoderMedium)?.[1] ??
    encoderMedium
  return `${quoteShortenedValue(value)} encodes ${ownMedium}, but these streams are ${STREAM_TYPE_NAMES[medium]}; write it as -c:${encoderMedium.toLowerCase()} ${value}`
}

/** Returns refusals of codecs that the format of the output cannot hold. */
function checkContainer(file: CommandFile, capabilities: FfmpegCapabilities): CommandRefusal[] {
  const [muxer, ...others] = findOutputMuxers(file, capabilities) ?? []
  if (!muxer || others.length > 0) return []
  return (["V", "A", "S"] as const).flatMap((medium) => {
    const codecOption = file.options.findLast((option) => {
      return isCodecOption(option.name) && findOptionStreamType(option) === medium
    })
    if (
      !codecOption?.value ||
      codecOption.value === "copy" ||
      codecOption.word.split(":").length > 2
    )
      return []
    const instead = findCodecRemedy(muxer.name, medium, codecOption.value)
    if (instead === null) return []
    const message = `${codecOption.word}: the format ${muxer.name} cannot hold streams that ${codecOption.value} encodes; ${instead}`
    return [{ code: "invalid_option" as const, option: codecOption.word, message }]
  })
}
