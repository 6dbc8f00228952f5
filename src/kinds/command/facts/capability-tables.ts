import { z } from "zod"

/**
 * Schema of the capabilities of an ffmpeg build, as `npm run ffmpeg -- facts` writes them. A list
 * has names separated by spaces. A table has a component on each line: name, metadata and options,
 * separated by tabs. `@name` refers to the options of another line. An option is `name=alias:type
 * and sides:min:max|constant|constant`.
 */
export const ffmpegCapabilityTablesSchema = z.object({
  version: z.string(),
  /** Names of the options of ffmpeg itself, which belong to no library. */
  options: z.string(),
  /**
   * Options of ffmpeg's libraries (codec, format, sws, swr, filter). The entries `codecs` and
   * `formats` have all options of all codecs and all formats.
   */
  generic: z.string(),
  filters: z.string(),
  encoders: z.string(),
  muxers: z.string(),
  bsfs: z.string(),
  decoders: z.string(),
  demuxers: z.string(),
  /**
   * Codecs that have an encoder, as `name:medium`. The medium is a letter, such as `V` for video.
   */
  encodable: z.string(),
  decodable: z.string(),
  pixelFormats: z.string(),
  sampleFormats: z.string(),
  /** Names of audio channels and of channel layouts. */
  layouts: z.string(),
  colors: z.string(),
  dispositions: z.string(),
})

export type FfmpegCapabilityTables = z.infer<typeof ffmpegCapabilityTablesSchema>
