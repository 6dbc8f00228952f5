import type { NormalizedFormat } from "./choose-format.ts"
import type { AudioContainer } from "./audio-containers.ts"
import { coverAttachmentArguments, COVER_TAGS_FILE_NAME } from "./cover-files.ts"
import type { CoverFile } from "./cover-files.ts"
import {
  bitDepthFilters,
  audioEncoderArguments,
  doesCodecStoreSamplesExactly,
} from "./audio-encoders.ts"
import { gainFilters } from "./gain-filters.ts"
import type { LoudnessGain } from "./gain.ts"
import { canMeasureWithoutResampling, loudnessMeterFilters } from "./loudness-meter.ts"
import type { MovieHeader } from "../ffmpeg/movie-header.ts"
import type {
  DecodableAudioStream,
  UnprocessedStream,
  NormalizationSource,
} from "./normalization-source.ts"

/** Normalized file to write: its input, its output format, and the gain of each audio stream. */
export type GainApplication = {
  input: string
  output: string
  source: NormalizationSource
  format: NormalizedFormat
  /** Gain of each audio stream, in the order of the streams. */
  gains: readonly LoudnessGain[]
  covers: readonly CoverFile[]
  /** Header of the input, if both input and output are MP4 or QuickTime files; else null. */
  movie: MovieHeader | null
}

/**
 * Matches tags that ffmpeg writes to MP4 only with `use_metadata_tags`, a mode that cannot store
 * cover pictures.
 */
const APPLE_TAG = /^com\./
/** Matches tags that audio recorders write to Broadcast Wave files. */
const BROADCAST_TAG = /^(?:originator|origination_date|time_reference|umid|coding_history)/

/**
 * Returns the arguments of ffmpeg that write a file with gains applied to the audio streams and all
 * other content unchanged.
 */
export function gainApplicationArguments(application: GainApplication): string[] {
  const { input, output, source, format, covers } = application
  const kept = keptStreams(source, format.container)
  const others = kept.filter((each) => "type" in each)
  const attached = others.filter(({ type }) => type === "attachment").length
  return [
    "-i",
    input,
    ...(hasCoverTags(application) ? ["-i", COVER_TAGS_FILE_NAME, "-map_metadata:g", "1"] : []),
    ...kept.flatMap(({ index }) => ["-map", `0:${index}`]),
    "-map_chapters",
    "0",
    "-c",
    "copy",
    ...soundArguments(application),
    ...subtitleArguments(others, format.container),
    ...(format.container.holds.covers === "attachment"
      ? coverAttachmentArguments(covers, attached)
      : []),
    ...staleTagRemovalArguments(source.tags, ""),
    ...muxerArguments(application),
    "-max_muxing_queue_size",
    "9999",
    "-f",
    muxerOf(format),
    output,
  ]
}

/**
 * Reports whether the loudness of the output can be measured while ffmpeg writes the file. This
 * requires that the encoder of each changed stream stores samples exactly. Copied streams were
 * measured before.
 */
export function canMeasureWhileWriting({
  source,
  format,
  gains,
}: Pick<GainApplication, "source" | "format" | "gains">): boolean {
  return source.audio.every((stream, order) => {
    if (gains[order]?.type === "none" && format.isSameContainer) return true
    return (
      canMeasureWithoutResampling(stream.rate) &&
      doesCodecStoreSamplesExactly(format.codecs[order] ?? "", stream)
    )
  })
}

/** Returns the streams of a source that a container can store, in the order of the source. */
function keptStreams(
  { audio, others }: NormalizationSource,
  container: AudioContainer,
): (DecodableAudioStream | UnprocessedStream)[] {
  const kept = others.filter((each) => isKept(each, container))
  return [...audio, ...kept].toSorted((one, other) => one.index - other.index)
}

function isKept({ type, codec, tag }: UnprocessedStream, { holds }: AudioContainer): boolean {
  if (type === "cover") return holds.covers === "stream"
  if (type === "attachment") return holds.attachments === true
  if (type === "data") return holds.data?.test(tag ?? "") === true
  if (codec === null) return false
  if (type === "subtitle") {
    return holds.subtitles?.test(codec) === true || holds.converted?.[codec] !== undefined
  }
  return type === "audio" || holds.video
}

/** Returns the position of each decodable audio stream among all audio streams of the output. */
export function listKeptAudioPositions(
  source: NormalizationSource,
  container: AudioContainer,
): number[] {
  const kept = keptStreams(source, container)
  const audioStreams = kept.filter((each) => !("type" in each) || each.type === "audio")
  return source.audio.map((stream) => audioStreams.indexOf(stream))
}

function soundArguments({ source, format, gains }: GainApplication): string[] {
  const places = listKeptAudioPositions(source, format.container)
  const isMeasured = canMeasureWhileWriting({ source, format, gains })
  return source.audio.flatMap((stream, order) => {
    const codec = format.codecs[order]
    const gain = gains[order]
    const at = places[order]
    if (codec === undefined || gain === undefined || at === undefined) return []
    if (gain.type === "none" && format.isSameContainer && codec === stream.codec) return []
    const depth = bitDepthFilters(codec, stream)
    const meter = isMeasured ? [loudnessMeterFilters(order, stream.rate), ...depth] : []
    const filters = [...gainFilters(gain, stream), ...depth, ...meter]
    return [
      ...audioEncoderArguments(codec, stream, at),
      ...(filters.length > 0 ? [`-filter:a:${at}`, filters.join(",")] : []),
      ...staleTagRemovalArguments(stream.tags, `:s:a:${at}`),
    ]
  })
}

function subtitleArguments(
  kept: readonly UnprocessedStream[],
  { holds }: AudioContainer,
): string[] {
  const subtitles = kept.filter(({ type }) => type === "subtitle")
  return subtitles.flatMap(({ codec }, at) => {
    const other = holds.converted?.[codec ?? ""]
    return other === undefined ? [] : [`-c:s:${at}`, other]
  })
}

function hasCoverTags({ format, covers }: GainApplication): boolean {
  return format.container.holds.covers === "comment" && covers.length > 0
}

function muxerOf({ container }: NormalizedFormat): string {
  return container.muxer ?? container.name
}

function muxerArguments({ source, format, movie }: GainApplication): string[] {
  const { container } = format
  if (container.demuxer === "mov") return movieArguments(source, movie)
  const isBroadcast = Object.keys(source.tags).some((key) => BROADCAST_TAG.test(key))
  const broadcast = container.name === "wav" && isBroadcast ? ["-write_bext", "1"] : []
  return [...(container.arguments ?? []), ...broadcast]
}

function movieArguments(
  { tags, others }: NormalizationSource,
  movie: MovieHeader | null,
): string[] {
  const hasCover = others.some(({ type }) => type === "cover")
  const hasAppleTags = !hasCover && Object.keys(tags).some((key) => APPLE_TAG.test(key))
  const flags = [
    ...(movie?.isBeforeMedia === false ? [] : ["faststart"]),
    ...(hasAppleTags ? ["use_metadata_tags"] : []),
  ]
  return flags.length > 0 ? ["-movflags", `+${flags.join("+")}`] : []
}

/**
 * Matches names of metadata tags about playback gain and stream statistics, which are wrong after
 * the audio has changed.
 */
const STALE = /^(?:replaygain_|r128_|itunnorm$|bps(?:-|$)|number_of_|_statistics_)/i

/**
 * Maximum number of outdated metadata tags that are removed, and maximum length of such a tag's
 * name, so that a file with many tags does not make the command line too long.
 */
const TAGS_MAX = 32
const KEY_LENGTH_MAX = 64

/**
 * Returns the arguments of ffmpeg that remove tags that are wrong after the audio has changed, such
 * as ReplayGain. `specifier` is the stream specifier of the option `-metadata`.
 */
export function staleTagRemovalArguments(
  tags: Record<string, string>,
  specifier: string,
): string[] {
  return Object.keys(tags)
    .filter((key) => STALE.test(key) && key.length <= KEY_LENGTH_MAX)
    .slice(0, TAGS_MAX)
    .flatMap((key) => [`-metadata${specifier}`, `${key}=`])
}
