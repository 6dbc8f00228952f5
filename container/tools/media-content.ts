import { z } from "zod"
import { readMovieHeader } from "./movie-header.ts"

/** A stream of pictures or of sound, and whether it holds any packet; null where that is not known. */
type StreamContent = { type: "video" | "audio"; isFilled: boolean | null }

/** What a look at the first packets of a file found, beside what its headers say. */
export type MediaContent = {
  /** Whether it holds nothing that plays; null where that cannot be told. */
  isEmpty: boolean | null
  /** Its streams of pictures and of sound, covers aside. */
  streams: StreamContent[]
  /** How many covers there are, which are no film and no song. */
  covers: number
}

/** Of the usual rate of frames, the share that the mean must have for them to be steady. */
const STEADY_SHARE_MIN = 0.9
/** How many packets are looked at; reading more would cost more than it tells. */
const PACKETS_MAX = 64

/** Arguments for ffprobe that show the first packets. */
export const PACKET_ARGUMENTS = [
  ...`-read_intervals %+#${PACKETS_MAX} -show_packets -show_entries`.split(" "),
  "packet=stream_index,pts_time,size,flags",
]

export const UNKNOWN_CONTENT: MediaContent = { isEmpty: null, streams: [], covers: 0 }

/** Containers that can be read though they hold no stream; texts have none either. */
const CONTAINERS = /^(?:mov|matroska|avi|flv|asf|nut|ogg|mpegts|mpeg)(?:,|$)/

/** What ffprobe says of a file that has headers and nothing behind them. */
const NOTHING_BEHIND_HEADERS =
  /: End of file$|EOF before video frames$|Failed to read frame size|Failed to find two consecutive MPEG audio frames/

const packet = z.object({
  stream_index: z.number(),
  pts_time: z.coerce.number().optional().catch(undefined),
  size: z.coerce.number().optional().catch(undefined),
  flags: z.string().default(""),
})
/** A rate as ffprobe writes it, such as "30000/1001"; 0 where it is not known. */
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
const shown = z.object({
  packets: z.array(packet).default([]),
  streams: z.array(stream).default([]),
  format: z.object({ format_name: z.string() }),
})

type Stream = z.infer<typeof stream>

/** Reads what ffprobe printed of the file at a path, which it could open. */
export async function readContent(output: unknown, path: string): Promise<MediaContent> {
  const read = shown.safeParse(output)
  if (!read.success) return UNKNOWN_CONTENT
  const { packets, streams, format } = read.data
  const media = streams.filter(isMedia)
  if (streams.length === 0) {
    return { ...UNKNOWN_CONTENT, isEmpty: CONTAINERS.test(format.format_name) ? true : null }
  }
  const covers = streams.filter(isCover).length
  if (media.length === 0) return { ...UNKNOWN_CONTENT, covers }
  const isMovie = format.format_name.startsWith("mov,")
  const isHidden = isMovie && (await readMovieHeader(path)).isHidden
  const playing = new Set(
    packets
      // The header of an AVIF names a packet, though none was written.
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

/** Reads why ffprobe could not open a file that a muxer wrote. */
export function readRefusal(stderr: string): MediaContent {
  const isEmpty = stderr.split("\n").some((line) => NOTHING_BEHIND_HEADERS.test(line)) || null
  return { ...UNKNOWN_CONTENT, isEmpty }
}

/**
 * Seconds that a stream of pictures or sound lasts at least, 0 where that is not certain; null for
 * any other. `end` is where it ends, null where only the stream itself says so.
 */
export function leastSeconds(probed: Record<string, unknown>, end: number | null): number | null {
  const read = stream.safeParse(probed)
  if (!read.success || !isMedia(read.data)) return null
  const { start_time: start = 0, avg_frame_rate: rate, r_frame_rate: usualRate } = read.data
  const seconds = (end ?? lengthOf(read.data)) - Math.max(0, start)
  if (read.data.codec_type === "audio" || rate <= 0) return Math.max(0, seconds)
  // Where frames last unequally long, the last may be most of it, and not every format keeps that.
  if (rate < usualRate * STEADY_SHARE_MIN) return 0
  return Math.max(0, seconds - 1 / rate)
}

/** Streams of pictures and of sound, covers aside. */
function isMedia(each: Stream): boolean {
  return (each.codec_type === "video" || each.codec_type === "audio") && !isCover(each)
}

function isCover({ disposition }: Stream): boolean {
  return disposition?.attached_pic === 1
}

/**
 * Whether a stream that begins behind the first packets holds any. ffprobe says of many that they
 * last as long as the file, which means nothing; Matroska says of each how long it is, in a tag.
 */
function seemsFilled({ duration, tags }: Stream): boolean | null {
  const tagged = tags?.["DURATION"]
  if (tagged !== undefined) return readTag(tagged) > 0
  return duration === 0 ? false : null
}

/** How many seconds a stream says it lasts. */
function lengthOf({ duration, tags }: Stream): number {
  const tagged = tags?.["DURATION"]
  return tagged === undefined ? (duration ?? 0) : readTag(tagged)
}

function readTag(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(Number)
  return hours * 3600 + minutes * 60 + seconds
}
