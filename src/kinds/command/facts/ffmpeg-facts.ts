import { z } from "zod"

/**
 * What an ffmpeg knows, as `npm run ffmpeg -- facts` reads it: lists of names with blanks between, and
 * tables of one line each. A line is a name, what else there is, and its options, with tabs between; or
 * `@name` in the place of options that are those of another line. An option is
 * `name=alias:type and sides:least:most|constant|constant`.
 */
export const ffmpegFacts = z.object({
  version: z.string(),
  /** Options of ffmpeg itself. */
  options: z.string(),
  /** Options of the libraries: codec, format, sws, swr, filter; and of any of the codecs and formats. */
  generic: z.string(),
  filters: z.string(),
  encoders: z.string(),
  muxers: z.string(),
  bsfs: z.string(),
  decoders: z.string(),
  demuxers: z.string(),
  /** Codecs for which there is an encoder, as `name:medium`. */
  encodable: z.string(),
  decodable: z.string(),
  pixelFormats: z.string(),
  sampleFormats: z.string(),
  /** Names of channels and of layouts of them. */
  layouts: z.string(),
  colors: z.string(),
  dispositions: z.string(),
})

export type FfmpegFacts = z.infer<typeof ffmpegFacts>
