import { lastValue } from "../../../contract/command-line.ts"
import type { ReadCommand, ReadFile } from "../../../contract/command-line.ts"
import type { ProbeResult } from "../../../contract/probe.ts"
import { quote } from "../policy/refusal.ts"
import type { Refusal } from "../policy/refusal.ts"
import type { Probes } from "./check-streams.ts"
import { choosesCodec, mediumOf, muxersOf } from "./codecs.ts"
import type { Medium } from "./codecs.ts"
import { copyRefusedBy } from "./containers.ts"
import { metaOf } from "./known.ts"
import type { Known, KnownEntry } from "./known.ts"

type Stream = ProbeResult["streams"][number]

const MEDIA = [
  { medium: "V", type: "video", without: "vn" },
  { medium: "A", type: "audio", without: "an" },
  { medium: "S", type: "subtitle", without: "sn" },
] as const

/** Options that choose streams, where ffmpeg would choose them itself otherwise. */
const CHOOSING = /^(?:map|filter_complex|filter_complex_script|lavfi|attach|target)$/

/**
 * Outputs for which ffmpeg chooses the streams itself, and finds none, or one whose copy the format
 * does not hold. Inputs of which no probe says what they hold may hold anything.
 */
export function checkDefaults(command: ReadCommand, known: Known, probes: Probes): Refusal[] {
  const streams = streamsOf(command, probes)
  const words = [...command.files.flatMap(({ options }) => options), ...command.trailing]
  if (streams === null || words.some(({ name }) => CHOOSING.test(name))) return []
  return command.files.flatMap((file) => {
    const [muxer, ...others] = (file.kind === "output" && muxersOf(file, known)) || []
    if (!muxer || others.length > 0) return []
    const kept = streams.filter((stream) => isKept(stream, file, muxer))
    return kept.length === 0 ? describeNothing(file, muxer) : checkCopies(file, muxer, kept)
  })
}

/** What all inputs hold; null where that is not known of each. */
function streamsOf({ files }: ReadCommand, probes: Probes): Stream[] | null {
  const inputs = files.filter(({ kind }) => kind === "input")
  const streams: Stream[] = []
  for (const input of inputs) {
    const probe = probes.get(input.word)
    if (!probe || probe.streams.length === 0 || lastValue(input, "f") !== null) return null
    if (input.options.some(({ name }) => /^[vasd]n$/.test(name))) return null
    streams.push(...probe.streams)
  }
  return inputs.length === 0 ? null : streams
}

/** Whether a stream may come into an output; one that is neither of the three media may. */
function isKept(stream: Stream, { options }: ReadFile, muxer: KnownEntry): boolean {
  const known = MEDIA.find(({ type }) => type === stream["codec_type"])
  if (!known) return true
  if (options.some(({ name }) => name === known.without)) return false
  return metaOf(muxer, known.medium.toLowerCase()).length > 0
}

function describeNothing({ word, options }: ReadFile, muxer: KnownEntry): Refusal[] {
  const left = options.filter(({ name }) => /^[vas]n$/.test(name)).map((each) => each.word)
  const holds = MEDIA.some(({ medium }) => metaOf(muxer, medium.toLowerCase()).length > 0)
  const [option] = left
  if (option === undefined || !holds) return []
  const message = `${left.join(" and ")}: no stream of the inputs is left for ${quote(word)}; leave ${left.length > 1 ? "one of them" : "it"} out, or take an input that has more`
  return [{ code: "stream_not_found", option, message }]
}

function checkCopies(file: ReadFile, muxer: KnownEntry, streams: readonly Stream[]): Refusal[] {
  return (["V", "A"] as const).flatMap((medium) => {
    const codec = onlyCodec(medium, streams)
    const codecs = file.options.filter((option) => {
      const own = mediumOf(option)
      return choosesCodec(option.name) && (own === null || own === medium)
    })
    const [last] = codecs.slice(-1)
    if (codec === null || last?.value !== "copy" || codecs.some(isOfOne)) return []
    const instead = copyRefusedBy(muxer.name, medium, codec)
    if (instead === null) return []
    const message = `${last.word} copy: the format ${muxer.name} cannot hold ${codec}, which the input has; ${instead}`
    return [{ code: "invalid_option" as const, option: last.word, message }]
  })
}

function isOfOne({ word }: { word: string }): boolean {
  return /:\d+$/.test(word)
}

/** The codec of all streams of a medium; null where they differ, are none, or some is a cover. */
function onlyCodec(medium: Medium, streams: readonly Stream[]): string | null {
  const type = MEDIA.find((each) => each.medium === medium)?.type
  const own = streams.filter((stream) => stream["codec_type"] === type)
  const codecs = new Set(own.map((stream) => stream["codec_name"]))
  const [codec] = codecs
  if (own.some(isCover) || codecs.size !== 1 || typeof codec !== "string") return null
  return codec
}

function isCover({ disposition }: Stream): boolean {
  return typeof disposition === "object" && disposition !== null && "attached_pic" in disposition
    ? disposition.attached_pic !== 0
    : false
}
