import { z } from "zod"

/**
 * Schema of the capabilities of an ffmpeg build, as `npm run ffmpeg -- facts` writes them: lists of
 * names separated by spaces, and tables of one component per line. A line has a name, metadata and
 * options, separated by tabs. `@name` refers to the options of another line. An option is
 * `name=alias:type and sides:min:max|constant|constant`.
 */
export const ffmpegCapabilityTables = z.object({
  version: z.string(),
  /** Options of ffmpeg itself. */
  options: z.string(),
  /**
   * Options of the libraries (codec, format, sws, swr, filter), and the union of all options of
   * codecs and of formats.
   */
  generic: z.string(),
  filters: z.string(),
  encoders: z.string(),
  muxers: z.string(),
  bsfs: z.string(),
  decoders: z.string(),
  demuxers: z.string(),
  /** Codecs that have an encoder, as `name:medium`. */
  encodable: z.string(),
  decodable: z.string(),
  pixelFormats: z.string(),
  sampleFormats: z.string(),
  /** Names of channels and of channel layouts. */
  layouts: z.string(),
  colors: z.string(),
  dispositions: z.string(),
})

export type FfmpegCapabilityTables = z.infer<typeof ffmpegCapabilityTables>
