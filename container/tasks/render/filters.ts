import type { FrameRate } from "../../tools/renditions/video-encoder.ts"
import { isRgb, planConversion } from "./colour.ts"
import { rateText } from "./frame-rate.ts"
import { turned } from "./geometry.ts"
import type { Size } from "./geometry.ts"
import type { SourceVideo } from "./source.ts"

/** Filters of some renditions, each a list of ffmpeg's filters in a row. */
export type PictureFilters = {
  /** What all renditions have in common, and is done once. */
  shared: readonly string[]
  /** What follows for each, by the order of the sizes. */
  own: readonly (readonly string[])[]
}

/** Codecs whose pictures are never interlaced. */
const PROGRESSIVE_CODECS = /^(?:vp8|vp9|av1|gif|a?png|webp|bmp|tiff|svg|qoi|jpegxl|flashsv2?|vvc)$/
/** Codecs whose decoders tell of each frame whether it is interlaced. */
const TELLING_CODECS = /^(?:h264|hevc|mpeg[124]video|mpeg4|vc1|wmv3|dvvideo|prores|mjpeg|dnxhd)$/
/** The least picture that the deinterlacer takes. */
const DEINTERLACED_MIN: Size = { width: 3, height: 4 }
/** Formats with transparency. */
const TRANSPARENT = /^(?:yuva|gbrap|argb|rgba|abgr|bgra|ya\d|pal8|ayuv|vuya)/

/** The filters that make pictures of some sizes from the decoded frames of a source. */
export function pictureFilters(
  video: SourceVideo,
  frameRate: FrameRate,
  sizes: readonly Size[],
): PictureFilters {
  const conversion = planConversion(video)
  const steady = [...deinterlace(video), `fps=${rateText(frameRate)}`]
  if (conversion.type === "matrix") {
    const own = sizes.map((size) => [
      ...scaleInMatrix(video, size, conversion.from),
      ...finish(video, conversion),
    ])
    return { shared: steady, own }
  }
  // Such a conversion is slow: it is done once, at the largest size that is needed.
  const largest = sizes.reduce((one, other) => (one.width < other.width ? other : one))
  const shared = [...steady, scaleTo(video, largest), ...conversion.filters, "format=yuv420p"]
  const own = sizes.map((size) => [
    ...(size.width === largest.width && size.height === largest.height
      ? []
      : [scaleTo(video, size)]),
    ...finish(video, { primaries: "bt709" }),
  ])
  return { shared, own }
}

/** Frames of two fields become frames of one moment; frames that are not interlaced stay. */
function deinterlace({ codec, fields, size }: SourceVideo): string[] {
  const isSmall = size.width < DEINTERLACED_MIN.width || size.height < DEINTERLACED_MIN.height
  if (fields === "progressive" || isSmall || PROGRESSIVE_CODECS.test(codec)) return []
  if (fields === null || TELLING_CODECS.test(codec))
    return ["bwdif=mode=send_frame:deint=interlaced"]
  const parity = fields === "top" ? "tff" : "bff"
  return [`bwdif=mode=send_frame:parity=${parity}:deint=all`]
}

/** `from` is the matrix of the source, by the names of the filter "scale"; null where it has none. */
function scaleInMatrix(video: SourceVideo, size: Size, from: string | null): string[] {
  const { pixelFormat } = video
  const into = "out_color_matrix=bt709:out_range=tv"
  if (TRANSPARENT.test(pixelFormat)) {
    const matrix = from === null ? "" : `:in_color_matrix=${from}`
    // What can be seen through is shown over black.
    const flat = ["format=gbrap", "premultiply=inplace=1", "format=gbrp"]
    return [`${scaleTo(video, size)}${matrix}`, ...flat, `scale=${into}`, "format=yuv420p"]
  }
  if (from === "bt709") return [`${scaleTo(video, size)}:out_range=tv`, "format=yuv420p"]
  const matrix = from === null ? "" : `in_color_matrix=${from}:`
  const exact = isRgb(pixelFormat) ? ":flags=bicubic+accurate_rnd+full_chroma_inp" : ""
  return [`${scaleTo(video, size)}:${matrix}${into}${exact}`, "format=yuv420p"]
}

/** Scaled as it is stored, since it is turned later. */
function scaleTo({ orientation }: SourceVideo, size: Size): string {
  const { width, height } = orientation.isTurned ? turned(size) : size
  return `scale=${width}:${height}`
}

/** Turns a picture that is made, and lets its frames say nothing but what it is now. */
function finish({ orientation }: SourceVideo, { primaries }: { primaries: string }): string[] {
  const colours = `range=tv:color_primaries=${primaries}:color_trc=bt709:colorspace=bt709`
  return [
    ...orientation.filters,
    "setsar=1",
    "sidedata=mode=delete",
    `setparams=field_mode=prog:${colours}`,
  ]
}
