import type { ReadCommand, ReadFile, ReadOption } from "../../../contract/command-line.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { choosesCodec, encoderOf, MEDIUM_NAMES, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { copyRefusedBy } from "./containers.ts"
import { metaOf } from "./known.ts"
import type { Known, KnownEntry } from "./known.ts"
import { takenBy } from "./output-streams.ts"
import type { TakenStream } from "./output-streams.ts"

const MEDIA: readonly Medium[] = ["V", "A", "S"]
/** Subtitles that are pictures, which no encoder of a text takes. */
const DRAWN = /^(?:hdmv_pgs_subtitle|dvd_subtitle|dvb_subtitle|xsub)$/
const TEXT_ENCODERS = /^(?:mov_text|srt|subrip|ass|ssa|webvtt|text|ttml)$/

type Place = { file: ReadFile; muxer: KnownEntry; known: Known; isMapped: boolean }

/**
 * Outputs for which the inputs have no stream, or one that the format does not hold. Inputs of which no
 * probe says what they hold may hold anything.
 */
export function checkDefaults(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  return command.files.flatMap((file) => {
    const [muxer, ...others] = (file.kind === "output" && muxersOf(file, known)) || []
    if (!muxer || others.length > 0) return []
    const taken = takenBy(file, muxer, { command, probes })
    if (!taken) return []
    const place = { file, muxer, known, isMapped: taken.isMapped }
    if (taken.isWhole && isEmpty(taken.streams, muxer)) return describeNothing(place)
    return MEDIA.flatMap((medium) => {
      const streams = taken.streams.filter((stream) => stream.medium === medium)
      return streams.length === 0 ? [] : checkMedium(medium, streams, place)
    })
  })
}

/** Formats of sound whose pictures are covers, which are nothing without it. */
const COVERED = /^(?:mp3|flac|aiff)$/

function isEmpty(streams: readonly TakenStream[], muxer: KnownEntry): boolean {
  const isSound = COVERED.test(muxer.name)
  return !streams.some(({ medium }) => !isSound || medium === "A" || medium === null)
}

function describeNothing({ file, muxer, isMapped }: Place): Refusal[] {
  const { word, options } = file
  const left = options.filter(({ name }) => /^[vas]n$/.test(name)).map((each) => each.word)
  const [option] = left
  if (option !== undefined) {
    if (MEDIA.every((medium) => defaultOf(muxer, medium) === null)) return []
    const message = `${left.join(" and ")}: no stream of the inputs is left for ${quote(word)}; leave ${left.length > 1 ? "one of them" : "it"} out, or take an input that has more`
    return [{ code: "stream_not_found", option, message }]
  }
  // Optional maps of what is not there are as good as none.
  const all = MEDIA.filter((medium) => defaultOf(muxer, medium) !== null)
  const held = COVERED.test(muxer.name) ? (["A"] as const) : all
  if (held.length === 0 || (isMapped && !COVERED.test(muxer.name))) return []
  const media = held.map((medium) => MEDIUM_NAMES[medium]).join(" or ")
  const message = `the output ${quote(word)} is to hold ${media}, and no input has any; ${instead(muxer, held)}`
  return [{ code: "stream_not_found", message }]
}

function instead({ name }: KnownEntry, held: readonly Medium[]): string {
  if (/^(?:mp4|mov|ipod)$/.test(name)) {
    return "take an input that does, or for subtitles alone write -c:s mov_text"
  }
  const others = EXTENSIONS.filter(([medium]) => !held.includes(medium))
  const listed = others.map(([, extension]) => extension).join(", ")
  return `take an input that does${listed === "" ? "" : `, or write another format, as ${listed}`}`
}

/** A usual name's end of what holds one medium alone. */
const EXTENSIONS: readonly (readonly [Medium, string])[] = [
  ["V", ".mp4 or .png for pictures"],
  ["A", ".mp3 for sound"],
  ["S", ".srt for subtitles"],
]

/** What keeps streams of one medium from their output. */
function checkMedium(medium: Medium, streams: readonly TakenStream[], place: Place): Refusal[] {
  const { file, muxer, known, isMapped } = place
  const named = file.options.filter((option) => {
    const own = mediumOf(option)
    return choosesCodec(option.name) && (own === null || own === medium)
  })
  const last = named.at(-1)
  if (!last) return checkUnnamed(medium, place)
  if (named.some(({ word }) => /:\d+$/.test(word))) return []
  if (last.value === "copy") return checkCopies(medium, streams, { last, muxer, isMapped })
  const own = known.find("encoders", last.value ?? "")?.meta.charAt(0)
  if (mediumOf(last) === null && (own === "V" || own === "A") && own !== medium) {
    const message = `${last.word}: ${last.value ?? ""} encodes ${MEDIUM_NAMES[own]}, and ${quote(file.word)} gets ${MEDIUM_NAMES[medium]} as well; write -c:${own.toLowerCase()} ${last.value ?? ""}`
    return [{ code: "invalid_option", option: last.word, message }]
  }
  const drawn = streams.find(({ codec }) => DRAWN.test(codec))
  if (!drawn || !TEXT_ENCODERS.test(last.value ?? "")) return []
  const message = `${last.word}: the subtitles of the input are pictures (${drawn.codec}), and ${last.value ?? ""} is text; leave them out by -sn, copy them into an .mkv, or lay them over the film by overlay`
  return [{ code: "invalid_option", option: last.word, message }]
}

/** Streams whose format has no codec of their medium, or one that cannot be encoded here. */
function checkUnnamed(medium: Medium, place: Place): Refusal[] {
  const { file, muxer, known } = place
  const codec = defaultOf(muxer, medium)
  // A format that has none of any medium takes the codecs of another one.
  if (MEDIA.every((each) => defaultOf(muxer, each) === null)) return []
  const out = `-${medium.toLowerCase()}n`
  if (codec === null) {
    const encoder = /^(?:mp4|mov|ipod)$/.test(muxer.name) && medium === "S" ? "mov_text" : null
    const other = encoder === null ? "" : `write -c:s ${encoder}, or `
    const message = `the format ${muxer.name} of ${quote(file.word)} takes no ${MEDIUM_NAMES[medium]} by itself; ${other}leave them out by ${out}`
    return [{ code: "invalid_option", message }]
  }
  const isThere = encoderOf(file, medium, known) !== null
  const isEncodable = [...known.names("encodable")].some((each) => each.startsWith(`${codec}:`))
  if (isThere || isEncodable) return []
  const fit = { V: "libx264", A: "aac", S: "srt" }[medium]
  const message = `the format ${muxer.name} of ${quote(file.word)} has ${MEDIUM_NAMES[medium]} as ${codec}, for which there is no encoder here; write -c:${medium.toLowerCase()} ${fit}, or leave them out by ${out}`
  return [{ code: "encoder_not_found", message }]
}

function defaultOf(muxer: KnownEntry, medium: Medium): string | null {
  return metaOf(muxer, medium.toLowerCase())[0] ?? null
}

function checkCopies(
  medium: Medium,
  streams: readonly TakenStream[],
  { last, muxer, isMapped }: { last: ReadOption; muxer: KnownEntry; isMapped: boolean },
): Refusal[] {
  // Of several that there are, ffmpeg takes one by itself.
  const isSure = isMapped || new Set(streams.map(({ codec }) => codec)).size === 1
  if (!isSure || streams.some(({ isCover }) => isCover)) return []
  for (const { codec } of streams) {
    const remedy = copyRefusedBy(muxer.name, medium, codec)
    if (remedy === null) continue
    const message = `${last.word} copy: the format ${muxer.name} cannot hold ${codec}, which the input has; ${remedy}`
    return [{ code: "invalid_option", option: last.word, message }]
  }
  return []
}
