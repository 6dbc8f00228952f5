import { z } from "zod"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import type { FrameRate } from "../../tools/renditions/video-encoder.ts"
import type { Colour } from "./colour.ts"
import type { ProbedRate } from "./frame-rate.ts"
import { readOrientation, UPRIGHT } from "./geometry.ts"
import type { Orientation, Size } from "./geometry.ts"

/** The order of the fields of an interlaced picture, by the one that is shown first. */
export type FieldOrder = "top" | "bottom"

/** The stream of pictures that renditions are made of. */
export type SourceVideo = {
  index: number
  /** Seconds after the beginning of the file at which it begins. */
  startSeconds: number
  codec: string
  /** As it is stored. */
  size: Size
  /** How much wider than high a pixel is. */
  pixelShape: number
  orientation: Orientation
  pixelFormat: string
  colour: Colour
  /** Null where nothing says that it is interlaced; "progressive" where something says that it is not. */
  fields: FieldOrder | "progressive" | null
  rate: ProbedRate
}

/** The stream of sound that renditions have. */
export type SourceAudio = {
  index: number
  channels: number
  /** By ffmpeg's name, or those of its channels. */
  layout: string | null
  sampleRate: number
  /** Seconds after the beginning of the file at which it begins. */
  startSeconds: number
  language: string | null
}

/** A file as its probe describes it; `video` is null where there is none. */
export type RenderSource = {
  name: string
  /** ffmpeg's names of its format, with commas in between. */
  format: string
  /** What its clock shows at its beginning. */
  startSeconds: number
  durationSeconds: number | null
  /** Whether it has a stream of pictures that no decoder here takes. */
  hasUnknownVideo: boolean
  video: SourceVideo | null
  audio: SourceAudio | null
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

const FIELD_ORDERS: Record<string, SourceVideo["fields"]> = {
  progressive: "progressive",
  tt: "top",
  bt: "top",
  bb: "bottom",
  tb: "bottom",
}

/** Reads what a probe says of a file, and picks its main streams as ffmpeg does. */
export function readSource(probe: ProbeResult, name: string): RenderSource {
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
    video: largest(videos),
    audio: sound ? readAudio(sound, startSeconds) : null,
  }
}

/** The largest picture; the default one counts as five million pixels more, as with ffmpeg. */
function largest(videos: readonly (SourceVideo & { isDefault: boolean })[]): SourceVideo | null {
  const scored = videos.map((video) => ({
    video,
    score: video.size.width * video.size.height + (video.isDefault ? 5_000_000 : 0),
  }))
  return scored.toSorted((one, other) => other.score - one.score)[0]?.video ?? null
}

function readVideo(
  stream: ProbedStream,
  fileStartSeconds: number,
): (SourceVideo & { isDefault: boolean })[] {
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
      orientation: matrix?.displaymatrix ? readOrientation(matrix.displaymatrix) : UPRIGHT,
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
): SourceAudio {
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
