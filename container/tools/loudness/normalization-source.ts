import { z } from "zod"
import type { ProbeResult } from "../../../src/contract/probe.ts"

const positive = z.coerce.number().positive().nullable().catch(null)
const text = z.string().nullable().catch(null)

const probedStream = z.looseObject({
  index: z.int().nonnegative(),
  codec_type: text,
  codec_name: text,
  codec_tag_string: text,
  profile: text,
  sample_fmt: text,
  sample_rate: positive,
  channels: positive,
  channel_layout: text,
  bit_rate: positive,
  bits_per_raw_sample: positive,
  width: positive,
  height: positive,
  disposition: z.object({ attached_pic: z.number().optional() }).catch({}),
  tags: z.record(z.string(), z.string()).catch({}),
})

const probedFormat = z.looseObject({
  bit_rate: positive,
  tags: z.record(z.string(), z.string()).catch({}),
})

/** Audio stream of the source that ffmpeg can decode. */
export type DecodableAudioStream = {
  index: number
  codec: string
  profile: string
  sampleFormat: string
  rate: number
  channels: number
  /** Channel layout by ffmpeg's name; null if the file does not declare one. */
  layout: string | null
  /** Bitrate in bits per second; null if unknown. */
  bitRate: number | null
  tags: Record<string, string>
}

/** Stream of the source that is not normalized, because it is not audio or cannot be decoded. */
export type UnprocessedStream = {
  index: number
  type: "video" | "cover" | "audio" | "subtitle" | "data" | "attachment"
  codec: string | null
  tag: string | null
  size: { width: number; height: number } | null
  tags: Record<string, string>
}

/** Source file of a loudness normalization, as ffprobe describes it. */
export type NormalizationSource = {
  /** Names that ffmpeg uses for the container format, such as `matroska,webm`. */
  format: string
  /** Extension of the file name in lower case, without the dot. */
  extension: string
  audio: DecodableAudioStream[]
  others: UnprocessedStream[]
  tags: Record<string, string>
}

const OTHER_TYPES = ["video", "audio", "subtitle", "data", "attachment"] as const

/** Parses ffprobe's description of the source file of a loudness normalization. */
export function readNormalizationSource(probe: ProbeResult, name: string): NormalizationSource {
  const streams = probe.streams.flatMap((each) => probedStream.safeParse(each).data ?? [])
  const { bit_rate: wholeRate, tags } = probedFormat.parse(probe.format)
  const audio = streams.flatMap((each) => readAudio(each, streams.length === 1 ? wholeRate : null))
  const audioIndexes = new Set(audio.map(({ index }) => index))
  return {
    format: probe.format_name,
    extension: /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? "",
    audio,
    others: streams.filter(({ index }) => !audioIndexes.has(index)).flatMap(readOther),
    tags,
  }
}

function readAudio(
  stream: z.infer<typeof probedStream>,
  wholeRate: number | null,
): DecodableAudioStream[] {
  const { index, codec_type: type, codec_name: codec, sample_rate: rate, channels, tags } = stream
  if (type !== "audio" || codec === null || rate === null || channels === null) return []
  const tagged = Object.entries(tags).find(([key]) => /^BPS(?:-|$)/i.test(key))?.[1]
  return [
    {
      index,
      codec,
      profile: stream.profile ?? "",
      sampleFormat: stream.sample_fmt ?? "",
      rate,
      channels,
      layout: stream.channel_layout,
      bitRate: stream.bit_rate ?? positive.parse(tagged) ?? wholeRate,
      tags,
    },
  ]
}

function readOther(stream: z.infer<typeof probedStream>): UnprocessedStream[] {
  const { index, codec_name: codec, codec_tag_string: tag, width, height, tags } = stream
  const type = OTHER_TYPES.find((each) => each === stream.codec_type)
  if (!type) return []
  const isCover = type === "video" && stream.disposition.attached_pic === 1
  const size = width !== null && height !== null ? { width, height } : null
  return [{ index, type: isCover ? "cover" : type, codec, tag, size, tags }]
}
