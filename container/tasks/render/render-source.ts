import { z } from "zod"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import type { FrameRate } from "../../tools/renditions/video-encoder-arguments.ts"
import type { StreamColours } from "./colour-conversion.ts"
import type { ProbedFrameRates } from "./frame-rate.ts"
import { readPictureRotation, NO_PICTURE_ROTATION } from "./geometry.ts"
import type { PictureRotation, PixelSize } from "./geometry.ts"

/** Field of an interlaced frame that is displayed first. */
export type FieldOrder = "top" | "bottom"

/** Main video stream of the source file from which renditions are encoded. */
export type SourceVideoStream = {
  index: number
  /** Start of the stream in seconds, relative to the start of the file. */
  startSeconds: number
  codec: string
  /** Size of the stored picture, before rotation. */
  size: PixelSize
  /** Aspect ratio of a pixel: its width divided by its height. */
  pixelShape: number
  orientation: PictureRotation
  pixelFormat: string
  colour: StreamColours
  /**
   * Field order of interlaced frames, or "progressive"; null if ffprobe does not report a field
   * order.
   */
  fields: FieldOrder | "progressive" | null
  rate: ProbedFrameRates
}

/** Main audio stream of the source of renditions. */
export type SourceAudioStream = {
  index: number
  channels: number
  /** Channel layout by ffmpeg's name, or the names of the channels; null if unknown. */
  layout: string | null
  sampleRate: number
  /** Start of the stream in seconds, relative to the start of the file. */
  startSeconds: number
  language: string | null
}

/**
 * Source file from which renditions are encoded, as described by ffprobe. `video` is null if the
 * file has no video stream, and `audio` is null if the file has no audio stream.
 */
export type RenderSource = {
  name: string
  /** Names that ffmpeg uses for the container format, such as `matroska,webm`. */
  format: string
  /** First timestamp of the file, in seconds. */
  startSeconds: number
  durationSeconds: number | null
  /** Whether the file has a video stream that cannot be decoded. */
  hasUnknownVideo: boolean
  video: SourceVideoStream | null
  audio: SourceAudioStream | null
}

const positive = z.coerce.number().positive().nullable().catch(null)
const number = z.coerce.number().nullable().catch(null)
const text = z.string().nullable().catch(null)
const flags = z.record(z.string(), z.number()).catch({})

const probedStream = z.looseObject({
  index: z.int().nonnegative(),
  codec_type: text,
  codec_name: text,
  width: positive,
  height: positive,
  sample_aspect_ratio: text,
  pix_fmt: text,
  color_range: text,
  color_space: text,
  color_transfer: text,
  color_primaries: text,
  field_order: text,
  r_frame_rate: text,
  avg_frame_rate: text,
  channels: positive,
  channel_layout: text,
  sample_rate: positive,
  start_time: number,
  disposition: flags,
  tags: z.record(z.string(), z.string()).catch({}),
  side_data_list: z.array(z.looseObject({ displaymatrix: text })).catch([]),
})

type ProbedStream = z.infer<typeof probedStream>

const FIELD_ORDERS: Record<string, SourceVideoStream["fields"]> = {
  progressive: "progressive",
  tt: "top",
  bt: "top",
  bb: "bottom",
  tb: "bottom",
}

/**
 * Parses the probe of a file. Selects the main video stream and the main audio stream in the same
 * way as ffmpeg.
 */
export function readRenderSource(probe: ProbeResult, name: string): RenderSource {
  const streams = probe.streams.flatMap((each) => probedStream.safeParse(each).data ?? [])
  const pictures = streams.filter(
    ({ codec_type: type, disposition }) => type === "video" && disposition["attached_pic"] !== 1,
  )
  const startSeconds = number.parse(probe.format["start_time"]) ?? 0
  const videos = pictures.flatMap((each) => readVideo(each, startSeconds))
  const sounds = streams.filter(isSound)
  const sound = sounds.find(isDefault) ?? sounds[0]
  return {
    name,
    format: probe.format_name,
    startSeconds,
    durationSeconds: probe.duration ?? null,
    hasUnknownVideo: pictures.length > videos.length,
    video: selectMainVideo(videos),
    audio: sound ? readAudio(sound, startSeconds) : null,
  }
}

/**
 * Returns the video stream with the largest picture. A stream that is marked as default counts as
 * if its picture had five million pixels more. ffmpeg selects a stream in the same way.
 */
function selectMainVideo(
  videos: readonly (SourceVideoStream & { isDefault: boolean })[],
): SourceVideoStream | null {
  const scored = videos.map((video) => ({
    video,
    score: video.size.width * video.size.height + (video.isDefault ? 5_000_000 : 0),
  }))
  return scored.toSorted((one, other) => other.score - one.score)[0]?.video ?? null
}

function readVideo(
  stream: ProbedStream,
  fileStartSeconds: number,
): (SourceVideoStream & { isDefault: boolean })[] {
  const { index, codec_name: codec, width, height } = stream
  if (codec === null || codec === "unknown" || width === null || height === null) return []
  const fields = FIELD_ORDERS[stream.field_order ?? ""] ?? null
  const matrix = stream.side_data_list.find(({ displaymatrix }) => displaymatrix !== null)
  return [
    {
      index,
      startSeconds: (stream.start_time ?? fileStartSeconds) - fileStartSeconds,
      codec,
      size: { width, height },
      pixelShape: readRatio(stream.sample_aspect_ratio, ":") ?? 1,
      orientation: matrix?.displaymatrix
        ? readPictureRotation(matrix.displaymatrix)
        : NO_PICTURE_ROTATION,
      pixelFormat: stream.pix_fmt ?? "",
      colour: {
        range: stream.color_range,
        matrix: stream.color_space,
        transfer: stream.color_transfer,
        primaries: stream.color_primaries,
      },
      fields,
      rate: {
        base: readRate(stream.r_frame_rate),
        average: readRate(stream.avg_frame_rate),
        isInterlaced: fields === "top" || fields === "bottom",
      },
      isDefault: isDefault(stream),
    },
  ]
}

function readAudio(
  { index, channels, channel_layout: layout, sample_rate, start_time, tags }: ProbedStream,
  fileStartSeconds: number,
): SourceAudioStream {
  const language = Object.entries(tags).find(([key]) => key.toLowerCase() === "language")?.[1]
  return {
    index,
    channels: channels ?? 2,
    layout,
    sampleRate: sample_rate ?? 48_000,
    startSeconds: (start_time ?? fileStartSeconds) - fileStartSeconds,
    language: language === undefined || language === "und" ? null : language,
  }
}

function isSound({ codec_type: type, codec_name: codec, sample_rate: rate }: ProbedStream) {
  return type === "audio" && codec !== null && codec !== "unknown" && rate !== null
}

function isDefault({ disposition }: ProbedStream): boolean {
  return disposition["default"] === 1
}

function readRate(rate: string | null): FrameRate | null {
  const [frames = 0, seconds = 0] = (rate ?? "").split("/").map(Number)
  return frames > 0 && seconds > 0 ? { frames, seconds } : null
}

function readRatio(ratio: string | null, sign: string): number | null {
  const [one = 0, other = 0] = (ratio ?? "").split(sign).map(Number)
  return one > 0 && other > 0 ? one / other : null
}
