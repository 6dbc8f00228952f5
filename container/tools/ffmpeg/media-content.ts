import { z } from "zod"
import { readMovieHeader } from "./movie-header.ts"

/**
 * Video or audio stream of a file. `isFilled` is true if the stream has packets, and null if
 * unknown.
 */
type StreamContent = { type: "video" | "audio"; isFilled: boolean | null }

/**
 * Media that a file contains in addition to its headers, as derived from the first packets of the
 * file.
 */
export type MediaContent = {
  /** Whether the file contains nothing that can be played; null if unknown. */
  isEmpty: boolean | null
  /** Video and audio streams of the file, without cover pictures. */
  streams: StreamContent[]
  /** Number of cover pictures, which count as neither video nor audio. */
  covers: number
}

/**
 * Minimum ratio of the mean frame rate (`avg_frame_rate` of ffprobe) to `r_frame_rate`, for a
 * stream whose frames count as evenly spaced.
 */
const STEADY_SHARE_MIN = 0.9
/**
 * Maximum number of packets that ffprobe reads. More packets would take longer and rarely change
 * the result.
 */
const PACKETS_MAX = 64

/** Arguments with which ffprobe prints the first packets of a file. */
export const FIRST_PACKETS_ARGUMENTS = [
  ...`-read_intervals %+#${PACKETS_MAX} -show_packets -show_entries`.split(" "),
  "packet=stream_index,pts_time,size,flags",
]

export const UNKNOWN_MEDIA_CONTENT: MediaContent = { isEmpty: null, streams: [], covers: 0 }

/**
 * Matches containers for which a file without streams counts as empty media. For other formats,
 * such a file may be text, in which ffprobe finds no streams either.
 */
const CONTAINERS = /^(?:mov|matroska|avi|flv|asf|nut|ogg|mpegts|mpeg)(?:,|$)/

/** Matches messages of ffprobe about a file that contains headers but no media. */
const NOTHING_BEHIND_HEADERS =
  /: End of file$|EOF before video frames$|Failed to read frame size|Failed to find two consecutive MPEG audio frames/

const packet = z.object({
  stream_index: z.number(),
  pts_time: z.coerce.number().optional().catch(undefined),
  size: z.coerce.number().optional().catch(undefined),
  flags: z.string().default(""),
})
/**
 * Schema that parses a frame rate printed by ffprobe, such as "30000/1001". The result is 0 if the
 * rate is unknown.
 */
const frameRate = z
  .string()
  .transform((text) => {
    const [frames = 0, seconds = 0] = text.split("/").map(Number)
    return seconds > 0 ? frames / seconds : 0
  })
  .catch(0)
const stream = z.looseObject({
  index: z.number(),
  codec_type: z.string().optional(),
  duration: z.coerce.number().optional().catch(undefined),
  start_time: z.coerce.number().optional().catch(undefined),
  avg_frame_rate: frameRate,
  r_frame_rate: frameRate,
  disposition: z.object({ attached_pic: z.number().optional() }).optional(),
  tags: z.record(z.string(), z.string()).optional().catch(undefined),
})
const ffprobeOutput = z.object({
  packets: z.array(packet).default([]),
  streams: z.array(stream).default([]),
  format: z.object({ format_name: z.string() }),
})

type Stream = z.infer<typeof stream>

/**
 * Derives the media content of a file from the output of ffprobe. `path` is the path of the file.
 */
export async function readMediaContent(output: unknown, path: string): Promise<MediaContent> {
  const read = ffprobeOutput.safeParse(output)
  if (!read.success) return UNKNOWN_MEDIA_CONTENT
  const { packets, streams, format } = read.data
  const media = streams.filter(isMedia)
  if (streams.length === 0) {
    return { ...UNKNOWN_MEDIA_CONTENT, isEmpty: CONTAINERS.test(format.format_name) ? true : null }
  }
  const covers = streams.filter(isCover).length
  if (media.length === 0) return { ...UNKNOWN_MEDIA_CONTENT, covers }
  const isMovie = format.format_name.startsWith("mov,")
  const isHidden = isMovie && (await readMovieHeader(path)).isHidden
  const playing = new Set(
    packets
      // Skips empty packets, since ffprobe lists an empty packet for an AVIF file without a
      // picture.
      .filter(({ size }) => size !== 0)
      .filter(({ flags, pts_time: time = 0 }) => !isHidden || !(flags.includes("D") || time < 0))
      .map(({ stream_index: index }) => index),
  )
  const isWhole = packets.length < PACKETS_MAX
  return {
    isEmpty: media.some(({ index }) => playing.has(index)) ? false : isWhole || isHidden || null,
    streams: media.map((each) => {
      const isFilled = playing.has(each.index) || (isWhole ? false : seemsFilled(each))
      return { type: each.codec_type === "video" ? "video" : "audio", isFilled }
    }),
    covers,
  }
}

/**
 * Derives the media content from ffprobe's error messages, for a file that ffprobe could not open.
 * The messages may show that the file contains only headers and is therefore empty.
 */
export function inferMediaContentFromProbeErrors(stderr: string): MediaContent {
  const isEmpty = stderr.split("\n").some((line) => NOTHING_BEHIND_HEADERS.test(line)) || null
  return { ...UNKNOWN_MEDIA_CONTENT, isEmpty }
}

/**
 * Returns the minimum duration of a video or audio stream, in seconds. Returns 0 if the duration is
 * uncertain, and null for streams of other types and cover pictures. `end` is the known end of the
 * stream in seconds; if null, the duration that the stream declares is used.
 */
export function computeMinimumStreamSeconds(
  probed: Record<string, unknown>,
  end: number | null,
): number | null {
  const read = stream.safeParse(probed)
  if (!read.success || !isMedia(read.data)) return null
  const { start_time: start = 0, avg_frame_rate: rate, r_frame_rate: usualRate } = read.data
  const seconds = (end ?? lengthOf(read.data)) - Math.max(0, start)
  if (read.data.codec_type === "audio" || rate <= 0) return Math.max(0, seconds)
  // Unevenly spaced frames prove no length: the last frame may last for most of the stream, and not
  // every format stores how long it lasts.
  if (rate < usualRate * STEADY_SHARE_MIN) return 0
  return Math.max(0, seconds - 1 / rate)
}

/** Reports whether a stream is audio, or video other than a cover picture. */
function isMedia(each: Stream): boolean {
  return (each.codec_type === "video" || each.codec_type === "audio") && !isCover(each)
}

function isCover({ disposition }: Stream): boolean {
  return disposition?.attached_pic === 1
}

/**
 * Reports whether a stream has packets after the first packets of the file, none of which belongs
 * to the stream; null if unknown. The result follows from a DURATION tag, which Matroska stores for
 * each stream, or from a duration of 0. Other durations prove nothing, because ffprobe often
 * reports the duration of the file.
 */
function seemsFilled({ duration, tags }: Stream): boolean | null {
  const tagged = tags?.["DURATION"]
  if (tagged !== undefined) return readTag(tagged) > 0
  return duration === 0 ? false : null
}

/**
 * Returns the duration of a stream in seconds, from the DURATION tag of the stream or else from
 * ffprobe's report.
 */
function lengthOf({ duration, tags }: Stream): number {
  const tagged = tags?.["DURATION"]
  return tagged === undefined ? (duration ?? 0) : readTag(tagged)
}

function readTag(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(Number)
  return hours * 3600 + minutes * 60 + seconds
}
