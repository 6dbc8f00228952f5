import { z } from "zod"
import { VIDEO_FORMATS_MAX } from "../../../src/contract/tasks/metadata.ts"
import type { VideoMetadata } from "../../../src/contract/tasks/metadata.ts"

const TEXT_LENGTH_MAX = 10_000
const ID_LENGTH_MAX = 200
/**
 * Largest plausible values in the metadata of a video. Larger values are errors of the web site.
 */
const SECONDS_MAX = 31 * 24 * 3600
const PIXELS_MAX = 100_000
const FPS_MAX = 1000
const BITRATE_KBPS_MAX = 10_000_000

const text = z
  .string()
  .transform((value) => value.slice(0, TEXT_LENGTH_MAX))
  .nullish()
  .catch(null)
  .transform((value) => (value === "" ? null : (value ?? null)))

/**
 * Returns the schema of a number that a web site has supplied. The result is null if the number is
 * missing, invalid, negative or above `max`.
 */
function numberTo(max: number) {
  return z
    .number()
    .min(0)
    .max(max)
    .nullish()
    .catch(null)
    .transform((value) => value ?? null)
}

function countTo(max: number) {
  return numberTo(max).transform((value) => (value === null ? null : Math.round(value)))
}

const count = countTo(Number.MAX_SAFE_INTEGER)

const format = z.object({
  format_id: z.coerce.string().transform((id) => id.slice(0, ID_LENGTH_MAX)),
  ext: text,
  width: countTo(PIXELS_MAX),
  height: countTo(PIXELS_MAX),
  fps: numberTo(FPS_MAX),
  vcodec: text,
  acodec: text,
  tbr: numberTo(BITRATE_KBPS_MAX),
  filesize: count,
  filesize_approx: count,
})

const page = z.object({
  title: text,
  duration: numberTo(SECONDS_MAX),
  view_count: count,
  like_count: count,
  comment_count: count,
  uploader: text,
  channel: text,
  timestamp: z.number().nullish().catch(null),
  upload_date: text,
  description: text,
  thumbnail: text,
  is_live: z.boolean().nullish().catch(null),
  extractor: text,
  formats: z.array(format).catch([]),
})

/**
 * Converts yt-dlp's metadata of a video to the metadata of the API. Returns null for invalid
 * metadata.
 */
export function toVideoMetadata(url: string, description: unknown): VideoMetadata | null {
  const { data } = page.safeParse(description)
  if (!data) return null
  const { channel, timestamp, upload_date: day, is_live: isLive, formats, ...rest } = data
  return {
    url,
    ...rest,
    uploader: rest.uploader ?? channel,
    upload_date: dateOf(timestamp ?? null) ?? dayOf(day),
    thumbnail: rest.thumbnail !== null && URL.canParse(rest.thumbnail) ? rest.thumbnail : null,
    is_live: isLive === true,
    formats: formats.slice(-VIDEO_FORMATS_MAX).map(describeFormat),
  }
}

function describeFormat(each: z.infer<typeof format>): VideoMetadata["formats"][number] {
  const { format_id, ext, width, height, fps, tbr } = each
  return {
    format_id,
    ext,
    width,
    height,
    fps,
    video_codec: codecOf(each.vcodec),
    audio_codec: codecOf(each.acodec),
    bitrate_kbps: tbr,
    size_bytes: each.filesize ?? each.filesize_approx,
  }
}

/**
 * Returns the name of a codec; null for "none", which yt-dlp writes for a format without a video or
 * audio stream.
 */
function codecOf(codec: string | null): string | null {
  return codec === "none" ? null : codec
}

/** Formats a timestamp in seconds since 1970 as ISO 8601; null outside the years 1970 to 9999. */
function dateOf(seconds: number | null): string | null {
  if (seconds === null) return null
  const date = new Date(Math.round(seconds) * 1000)
  const year = date.getUTCFullYear()
  return year >= 1970 && year < 10_000 ? `${date.toISOString().slice(0, 19)}Z` : null
}

/** Converts a day that yt-dlp writes, such as 20261122, to ISO 8601; null for an invalid day. */
function dayOf(day: string | null): string | null {
  const [, year, month, date] = /^(\d{4})(\d{2})(\d{2})$/.exec(day ?? "") ?? []
  const iso = `${year}-${month}-${date}`
  return year !== undefined && !Number.isNaN(Date.parse(iso)) ? iso : null
}
