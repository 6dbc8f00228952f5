import type { RenditionContainer } from "../../../src/contract/tasks/render.ts"
import { audioArguments } from "../../tools/renditions/audio-encoder.ts"
import { mixFilters } from "../../tools/renditions/mix-channels.ts"
import { passesOf, videoArguments } from "../../tools/renditions/video-encoder.ts"
import type { VideoTarget } from "../../tools/renditions/video-encoder.ts"
import { pictureFilters } from "./filters.ts"
import type { PictureFilters } from "./filters.ts"
import { padFilters } from "./geometry.ts"
import type { Size } from "./geometry.ts"
import { rateText } from "./frame-rate.ts"
import type { RenderSource, SourceAudio, SourceVideo } from "./source.ts"

/** A rendition to encode: what it is to be, and the file of the workspace that it becomes. */
export type PlannedRendition = {
  key: string
  name: string
  /** The picture, which is in the middle of a frame of the target's size. */
  picture: Size
  target: VideoTarget
  /** The rate that the encoder is asked for; another than the target's where that was missed. */
  askedKbps: number | null
}

/** A source that has a picture. */
export type PictureSource = RenderSource & { video: SourceVideo }

type Pass = 1 | 2

const MUXERS: Record<RenditionContainer, readonly string[]> = {
  mp4: ["-movflags", "+faststart", "-write_tmcd", "0", "-f", "mp4"],
  mov: ["-movflags", "+faststart", "-write_tmcd", "0", "-f", "mov"],
  webm: ["-cues_to_front", "1", "-f", "webm"],
}
/** What the source says of itself may be private, or not true of the rendition. */
const WITHOUT_TAGS = ["-map_metadata", "-1", "-map_chapters", "-1"]
/**
 * Opus begins with 6.5 ms that are not heard, for which ffmpeg 5 moves the picture: the sound is moved
 * by as much, so that keyframes are at the same times in every container.
 */
const OPUS_DELAY: Record<RenditionContainer, readonly string[]> = {
  mp4: [],
  mov: [],
  webm: ["asetpts=PTS+0.0065/TB"],
}
/** An encoder may look far ahead before its first packet, and the sound waits for it. */
const QUEUE_PACKETS_MAX = "9999"

/**
 * Words of ffmpeg that encode some renditions with one decode: all of them in the pass 2, or the
 * first pass of those that have two.
 */
export function encodeArguments(
  source: PictureSource,
  renditions: readonly PlannedRendition[],
  pass: Pass,
): string[] {
  // A log is found by the number of its stream, which is the same where those with two are first.
  const ordered = renditions.toSorted((one, other) => passesOf(other.target) - passesOf(one.target))
  const encoded = pass === 2 ? ordered : ordered.filter(({ target }) => passesOf(target) === 2)
  return [
    "-noautorotate",
    "-i",
    source.name,
    "-filter_complex",
    filterGraph(source, encoded),
    ...encoded.flatMap((each, at) => [
      "-map",
      `[v${at}]`,
      ...(source.audio ? ["-map", `0:${source.audio.index}`] : []),
      ...pictureArguments(each, pass),
      ...(pass === 2 ? finalArguments(source, each) : ["-c:a", "copy", "-f", "null", "-"]),
    ]),
  ]
}

/**
 * One filter graph with an output `v0`, `v1` and so on for each rendition. ffmpeg 5 copies what a
 * stream says of itself, such as how to turn it, to all outputs of a graph that has one input; so
 * that there is a second, which ends at once.
 */
function filterGraph({ video }: PictureSource, renditions: readonly PlannedRendition[]): string {
  const { shared, own } = renditionFilters(video, renditions)
  const input = `[0:${video.index}]`
  const second = `${input}nullsink`
  if (own.length === 1) {
    return [`${input}${[...shared, ...(own[0] ?? [])].join(",")}[v0]`, second].join(";")
  }
  const branches = own.map((_, at) => `[s${at}]`).join("")
  const split = `${input}${[...shared, `split=${own.length}`].join(",")}${branches}`
  return [split, ...own.map((each, at) => `[s${at}]${each.join(",")}[v${at}]`), second].join(";")
}

/** The filters of renditions, by their order. */
export function renditionFilters(
  video: SourceVideo,
  renditions: readonly PlannedRendition[],
): PictureFilters {
  const [first] = renditions
  if (!first) throw new Error("There is nothing to encode.")
  const pictures = renditions.map(({ picture }) => picture)
  const { shared, own } = pictureFilters(video, first.target.frameRate, pictures)
  const padded = renditions.map(({ picture, target }, at) => {
    return [...(own[at] ?? []), ...padFilters(picture, target)]
  })
  return { shared, own: padded }
}

function pictureArguments({ key, target, askedKbps }: PlannedRendition, pass: Pass): string[] {
  return [
    ...videoArguments({ ...target, bitrateKbps: askedKbps }, { number: pass, log: `pass-${key}` }),
    "-r",
    rateText(target.frameRate),
    "-fps_mode",
    "cfr",
  ]
}

function finalArguments({ audio }: PictureSource, { name, target }: PlannedRendition): string[] {
  return [
    ...(audio ? soundArguments(audio, target.container) : []),
    ...WITHOUT_TAGS,
    ...(audio?.language ? ["-metadata:s:a:0", `language=${audio.language}`] : []),
    "-max_muxing_queue_size",
    QUEUE_PACKETS_MAX,
    ...MUXERS[target.container],
    name,
  ]
}

/** Gaps become silence, so that the sound stays with the picture. */
function soundArguments(audio: SourceAudio, container: RenditionContainer): string[] {
  const { channels, sampleRate, startSeconds } = audio
  // Silence before a sound that begins later; a change of its channels would bring it again.
  const start = startSeconds > 0 ? ":first_pts=0" : ""
  return [
    "-af",
    [...mixFilters(audio), `aresample=async=1${start}`, ...OPUS_DELAY[container]].join(","),
    ...audioArguments(container, { channels, sampleRate }),
  ]
}
