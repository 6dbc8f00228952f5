import type { OutputFormat } from "./choose-format.ts"
import type { Container } from "./containers.ts"
import { attachmentArguments, COVER_TAGS_NAME } from "./cover-files.ts"
import type { CoverFile } from "./cover-files.ts"
import { depthFilters, encoderArguments, isExact } from "./encoders.ts"
import { gainFilters } from "./gain-filters.ts"
import type { Gain } from "./gain.ts"
import { isTransparent, meterFilters } from "./meter.ts"
import type { MovieHeader } from "../movie-header.ts"
import type { AudioStream, OtherStream, Source } from "./source.ts"
import { withoutStaleTags } from "./stale-tags.ts"

/** What a normalized file is made of. */
export type Application = {
  input: string
  output: string
  source: Source
  format: OutputFormat
  /** The gain of each stream of sound, in their order. */
  gains: readonly Gain[]
  covers: readonly CoverFile[]
  /** What is known of the file where it is an MP4 or of QuickTime. */
  movie: MovieHeader | null
}

/** Tags that only one way of writing them keeps, in which a file holds no cover. */
const APPLE_TAG = /^com\./
/** A recorder's note of a broadcast wave file. */
const BROADCAST_TAG = /^(?:originator|origination_date|time_reference|umid|coding_history)/

/** Arguments that write a file with its sound changed, and the rest of it as it is. */
export function applyArguments(application: Application): string[] {
  const { input, output, source, format, covers } = application
  const kept = keptStreams(source, format.container)
  const others = kept.filter((each) => "type" in each)
  const attached = others.filter(({ type }) => type === "attachment").length
  return [
    "-i",
    input,
    ...(hasCoverTags(application) ? ["-i", COVER_TAGS_NAME, "-map_metadata:g", "1"] : []),
    ...kept.flatMap(({ index }) => ["-map", `0:${index}`]),
    "-map_chapters",
    "0",
    "-c",
    "copy",
    ...soundArguments(application),
    ...subtitleArguments(others, format.container),
    ...(format.container.holds.covers === "attachment"
      ? attachmentArguments(covers, attached)
      : []),
    ...withoutStaleTags(source.tags, ""),
    ...muxerArguments(application),
    "-max_muxing_queue_size",
    "9999",
    "-f",
    muxerOf(format),
    output,
  ]
}

/**
 * Whether the sound is measured on its way into the file, since it comes out of it as it went in;
 * a stream that is copied was measured before.
 */
export function measuresItself({
  source,
  format,
  gains,
}: Pick<Application, "source" | "format" | "gains">): boolean {
  return source.audio.every((stream, order) => {
    if (gains[order]?.type === "none" && format.isSameContainer) return true
    return isTransparent(stream.rate) && isExact(format.codecs[order] ?? "", stream)
  })
}

/** The streams that a container keeps, in the order of the source. */
function keptStreams(
  { audio, others }: Source,
  container: Container,
): (AudioStream | OtherStream)[] {
  const kept = others.filter((each) => isKept(each, container))
  return [...audio, ...kept].toSorted((one, other) => one.index - other.index)
}

function isKept({ type, codec, tag }: OtherStream, { holds }: Container): boolean {
  if (type === "cover") return holds.covers === "stream"
  if (type === "attachment") return holds.attachments === true
  if (type === "data") return holds.data?.test(tag ?? "") === true
  if (codec === null) return false
  if (type === "subtitle") {
    return holds.subtitles?.test(codec) === true || holds.converted?.[codec] !== undefined
  }
  return type === "audio" || holds.video
}

/** Where the streams of sound that can be decoded are among all sound that a container keeps. */
export function soundPlaces(source: Source, container: Container): number[] {
  const kept = keptStreams(source, container)
  const heard = kept.filter((each) => !("type" in each) || each.type === "audio")
  return source.audio.map((stream) => heard.indexOf(stream))
}

function soundArguments({ source, format, gains }: Application): string[] {
  const places = soundPlaces(source, format.container)
  const isMeasured = measuresItself({ source, format, gains })
  return source.audio.flatMap((stream, order) => {
    const codec = format.codecs[order]
    const gain = gains[order]
    const at = places[order]
    if (codec === undefined || gain === undefined || at === undefined) return []
    if (gain.type === "none" && format.isSameContainer && codec === stream.codec) return []
    const depth = depthFilters(codec, stream)
    const meter = isMeasured ? [meterFilters(order, stream.rate), ...depth] : []
    const filters = [...gainFilters(gain, stream), ...depth, ...meter]
    return [
      ...encoderArguments(codec, stream, at),
      ...(filters.length > 0 ? [`-filter:a:${at}`, filters.join(",")] : []),
      ...withoutStaleTags(stream.tags, `:s:a:${at}`),
    ]
  })
}

function subtitleArguments(kept: readonly OtherStream[], { holds }: Container): string[] {
  const subtitles = kept.filter(({ type }) => type === "subtitle")
  return subtitles.flatMap(({ codec }, at) => {
    const other = holds.converted?.[codec ?? ""]
    return other === undefined ? [] : [`-c:s:${at}`, other]
  })
}

function hasCoverTags({ format, covers }: Application): boolean {
  return format.container.holds.covers === "comment" && covers.length > 0
}

function muxerOf({ container }: OutputFormat): string {
  return container.muxer ?? container.name
}

function muxerArguments({ source, format, movie }: Application): string[] {
  const { container } = format
  if (container.demuxer === "mov") return movieArguments(source, movie)
  const isBroadcast = Object.keys(source.tags).some((key) => BROADCAST_TAG.test(key))
  const broadcast = container.name === "wav" && isBroadcast ? ["-write_bext", "1"] : []
  return [...(container.arguments ?? []), ...broadcast]
}

function movieArguments({ tags, others }: Source, movie: MovieHeader | null): string[] {
  const hasCover = others.some(({ type }) => type === "cover")
  const hasAppleTags = !hasCover && Object.keys(tags).some((key) => APPLE_TAG.test(key))
  const flags = [
    ...(movie?.isBeforeMedia === false ? [] : ["faststart"]),
    ...(hasAppleTags ? ["use_metadata_tags"] : []),
  ]
  return flags.length > 0 ? ["-movflags", `+${flags.join("+")}`] : []
}
