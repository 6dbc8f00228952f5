import { lastValue } from "../../../contract/command-line.ts"
import type { ReadFile } from "../../../contract/command-line.ts"
import { reasonAgainstCodec } from "../policy/codecs.ts"
import { reasonAgainstInputFormat, reasonAgainstOutputFormat } from "../policy/formats.ts"
import { firstFaults, quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import { choosesCodec, codecsOf, MEDIUM_NAMES, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { refusedBy } from "./containers.ts"
import { metaOf } from "./known.ts"
import type { Known } from "./known.ts"
import { meant, meantEncoder, meantExtension } from "./usual-names.ts"

/** What no ffmpeg would make of the formats and codecs that a file names. */
export function checkCodecs(file: ReadFile, known: Known): Refusal[] {
  if (file.kind === "decoder") return []
  const codecs = checkNames(file, known)
  const format = checkFormat(file, known)
  if (file.kind === "input" || codecs.length > 0 || format.length > 0) return [...format, ...codecs]
  return checkContainer(file, known)
}

function checkFormat(file: ReadFile, known: Known): Refusal[] {
  const given = lastValue(file, "f")
  if (given === null) return file.kind === "input" ? [] : checkExtension(file, known)
  const isInput = file.kind === "input"
  const reason = isInput ? reasonAgainstInputFormat(given) : reasonAgainstOutputFormat(given)
  const names = known.names(isInput ? "demuxers" : "muxers")
  // Those of inputs are known by lists of names too.
  const asked = isInput ? given.split(",") : [given]
  if (reason || asked.some((name) => names.has(name.toLowerCase()))) return []
  const others = known.names(isInput ? "muxers" : "demuxers")
  const side = isInput ? "read" : "written"
  const isOther = others.has(given.toLowerCase())
  const what = isOther ? `this format cannot be ${side}` : "there is no such format"
  const isEncoder = given.startsWith("lib") && known.find("encoders", given) !== null
  const instead = isEncoder ? "; it is an encoder, so write -c:v or -c:a before it" : ""
  const message = `-f: ${quote(given)}: ${what}${instead || meant("formats", given.split(",", 1)[0] ?? "", names)}`
  return [{ code: "invalid_option", option: "-f", message }]
}

/** An output whose name does not say what it is to be. */
function checkExtension(file: ReadFile, known: Known): Refusal[] {
  const { word } = file
  if (muxersOf(file, known) || word === "/dev/null" || /^(?:-|pipe:)/.test(word)) return []
  const extension = /\.([^.]+)$/.exec(word)?.[1]
  const extensions = [...known.names("muxers")].flatMap((name) => {
    const entry = known.find("muxers", name)
    return entry ? metaOf(entry, "x") : []
  })
  const what =
    extension === undefined
      ? `the output ${quote(word)} has no extension, and so nothing says which format it is to be; give it one, as in ${word}.mp4, or write -f before it, as -f mp4`
      : `no format is called by the extension of the output ${quote(word)}${meantExtension(extension, extensions) || "; give it another, as .mp4, or write -f before it, as -f mp4"}`
  return [{ code: "invalid_option", message: what }]
}

function checkNames(file: ReadFile, known: Known): Refusal[] {
  return firstFaults(file.options, (option) => {
    const { name, word, value } = option
    if (!choosesCodec(name) || value === null || value === "copy") return []
    if (reasonAgainstCodec(value)) return []
    const message =
      file.kind === "input"
        ? describeDecoder(value, known)
        : describeEncoder(value, mediumOf(option), known)
    const code = file.kind === "input" ? "decoder_not_found" : "encoder_not_found"
    return message === null ? [] : [{ code, option: word, message: `${word}: ${message}` } as const]
  })
}

function describeDecoder(value: string, known: Known): string | null {
  const codecs = codecsOf(known, "decodable")
  if (known.names("decoders").has(value) || codecs.has(value)) return null
  const near = meant("decoders", value, [...known.names("decoders"), ...codecs.keys()])
  const isEncoder = known.names("encoders").has(value)
  const what = isEncoder
    ? "it encodes, and an input is decoded; put it behind the inputs, before the output"
    : "there is no such decoder"
  return `${quote(value)}: ${what}${isEncoder ? "" : near}`
}

function describeEncoder(value: string, medium: Medium | null, known: Known): string | null {
  const codecs = codecsOf(known, "encodable")
  const entry = known.find("encoders", value)
  const own = entry?.meta.charAt(0) ?? codecs.get(value)
  if (own === undefined) {
    const isKnown = known.names("decoders").has(value)
    const what = isKnown ? "it can only be decoded here" : "there is no such encoder"
    const names = [...known.names("encoders"), ...codecs.keys()]
    return `${quote(value)}: ${what}${isKnown ? "; use another encoder" : meantEncoder(value, medium, names)}`
  }
  if (medium === null || own === medium || !/[VAS]/.test(own)) return null
  const makes = Object.entries(MEDIUM_NAMES).find(([letter]) => letter === own)?.[1] ?? own
  return `${quote(value)} encodes ${makes}, and these streams are ${MEDIUM_NAMES[medium]}; write it as -c:${own.toLowerCase()} ${value}`
}

/** Codecs that the format of the output cannot hold. */
function checkContainer(file: ReadFile, known: Known): Refusal[] {
  const [muxer, ...others] = muxersOf(file, known) ?? []
  if (!muxer || others.length > 0) return []
  return (["V", "A", "S"] as const).flatMap((medium) => {
    const named = file.options.findLast((option) => {
      return choosesCodec(option.name) && mediumOf(option) === medium
    })
    if (!named?.value || named.value === "copy" || named.word.split(":").length > 2) return []
    const instead = refusedBy(muxer.name, medium, named.value)
    if (instead === null) return []
    const message = `${named.word}: the format ${muxer.name} cannot hold what ${named.value} makes; ${instead}`
    return [{ code: "invalid_option" as const, option: named.word, message }]
  })
}
