import type { RenditionContainer } from "../../../src/contract/tasks/render.ts"
import { stereoMixFilters } from "../../tools/renditions/mix-channels.ts"
import {
  countEncodePasses,
  videoEncoderArguments,
} from "../../tools/renditions/video-encoder-arguments.ts"
import type {
  FrameRate,
  VideoEncodeTarget,
} from "../../tools/renditions/video-encoder-arguments.ts"
import { paddingFilters, swapWidthAndHeight } from "./geometry.ts"
import type { PixelSize } from "./geometry.ts"
import { formatFrameRate } from "./frame-rate.ts"
import type { RenderSource, SourceAudioStream, SourceVideoStream } from "./render-source.ts"
import { isRgbPixelFormat, planColourConversion } from "./colour-conversion.ts"
import { AUDIO_ENCODER_PRESETS } from "../../tools/renditions/encoder-presets.ts"

/**
 * Rendition to encode: the key of its output, its file name in the workspace and its encoding
 * target.
 */
export type PlannedRendition = {
  key: string
  name: string
  /**
   * Size of the scaled picture. If the encoder needs a larger frame, the picture is centred in that
   * frame, with black borders.
   */
  picture: PixelSize
  target: VideoEncodeTarget
  /**
   * Bitrate that is passed to the encoder, in kbit/s. After an encode that missed its target, this
   * bitrate differs from the target bitrate.
   */
  encoderKbps: number | null
}

/** Source file with a video stream, from which renditions are encoded. */
export type SourceWithVideo = RenderSource & { video: SourceVideoStream }

type Pass = 1 | 2

const MUXERS: Record<RenditionContainer, readonly string[]> = {
  mp4: ["-movflags", "+faststart", "-write_tmcd", "0", "-f", "mp4"],
  mov: ["-movflags", "+faststart", "-write_tmcd", "0", "-f", "mov"],
  webm: ["-cues_to_front", "1", "-f", "webm"],
}
/**
 * Options of ffmpeg that drop the tags and chapters of the source, which may be private or wrong
 * for the rendition.
 */
const WITHOUT_TAGS = ["-map_metadata", "-1", "-map_chapters", "-1"]
/**
 * Audio filters by container. Opus audio in WebM begins with 6.5 ms of silence, for which ffmpeg 5
 * delays the picture. The filter for WebM delays the sound instead, so that keyframes have the same
 * times in every container.
 */
const OPUS_DELAY: Record<RenditionContainer, readonly string[]> = {
  mp4: [],
  mov: [],
  webm: ["asetpts=PTS+0.0065/TB"],
}
/**
 * Maximum number of packets that ffmpeg queues for a stream. Audio packets are queued while a video
 * encoder buffers many frames before its first packet.
 */
const QUEUE_PACKETS_MAX = "9999"

/**
 * Returns the arguments of ffmpeg that encode several renditions and decode the source once. Pass 1
 * encodes only the renditions that need two passes. Pass 2 encodes all renditions.
 */
export function renditionEncodeArguments(
  source: SourceWithVideo,
  renditions: readonly PlannedRendition[],
  pass: Pass,
): string[] {
  // Puts renditions with two passes first, since ffmpeg numbers pass logs by stream and the numbers
  // must be the same in both passes.
  const ordered = renditions.toSorted(
    (one, other) => countEncodePasses(other.target) - countEncodePasses(one.target),
  )
  const encoded =
    pass === 2 ? ordered : ordered.filter(({ target }) => countEncodePasses(target) === 2)
  return [
    "-noautorotate",
    "-i",
    source.name,
    "-filter_complex",
    filterGraph(source, encoded),
    ...encoded.flatMap((each, at) => [
      "-map",
      `[v${at}]`,
      ...(source.audio ? ["-map", `0:${source.audio.index}`] : []),
      ...pictureArguments(each, pass),
      ...(pass === 2 ? finalArguments(source, each) : ["-c:a", "copy", "-f", "null", "-"]),
    ]),
  ]
}

/**
 * Returns a filter graph with outputs `v0`, `v1` and so on, one output for each rendition. The
 * graph has a second input that ends in `nullsink`. With only one input, ffmpeg 5 would copy the
 * side data of the input, such as the rotation, to all outputs.
 */
function filterGraph({ video }: SourceWithVideo, renditions: readonly PlannedRendition[]): string {
  const { shared, own } = renditionFilters(video, renditions)
  const input = `[0:${video.index}]`
  const second = `${input}nullsink`
  if (own.length === 1) {
    return [`${input}${[...shared, ...(own[0] ?? [])].join(",")}[v0]`, second].join(";")
  }
  const branches = own.map((_, at) => `[s${at}]`).join("")
  const split = `${input}${[...shared, `split=${own.length}`].join(",")}${branches}`
  return [split, ...own.map((each, at) => `[s${at}]${each.join(",")}[v${at}]`), second].join(";")
}

/** Returns the chain of video filters of each rendition, in the order of the renditions. */
export function renditionFilters(
  video: SourceVideoStream,
  renditions: readonly PlannedRendition[],
): PictureFilters {
  const [first] = renditions
  if (!first) throw new Error("There is nothing to encode.")
  const pictures = renditions.map(({ picture }) => picture)
  const { shared, own } = scaledPictureFilters(video, first.target.frameRate, pictures)
  const padded = renditions.map(({ picture, target }, at) => {
    return [...(own[at] ?? []), ...paddingFilters(picture, target)]
  })
  return { shared, own: padded }
}

function pictureArguments({ key, target, encoderKbps }: PlannedRendition, pass: Pass): string[] {
  return [
    ...videoEncoderArguments(
      { ...target, bitrateKbps: encoderKbps },
      { number: pass, log: `pass-${key}` },
    ),
    "-r",
    formatFrameRate(target.frameRate),
    "-fps_mode",
    "cfr",
  ]
}

function finalArguments({ audio }: SourceWithVideo, { name, target }: PlannedRendition): string[] {
  return [
    ...(audio ? filteredAudioArguments(audio, target.container) : []),
    ...WITHOUT_TAGS,
    ...(audio?.language ? ["-metadata:s:a:0", `language=${audio.language}`] : []),
    "-max_muxing_queue_size",
    QUEUE_PACKETS_MAX,
    ...MUXERS[target.container],
    name,
  ]
}

/**
 * Returns the arguments of ffmpeg that mix, resample and encode the audio. Gaps in the audio become
 * silence, so that the audio stays in sync with the picture.
 */
function filteredAudioArguments(audio: SourceAudioStream, container: RenditionContainer): string[] {
  const { channels, sampleRate, startSeconds } = audio
  // Fills a late start of the audio with silence. No filter that changes channels may follow,
  // because ffmpeg would then insert the silence a second time.
  const start = startSeconds > 0 ? ":first_pts=0" : ""
  return [
    "-af",
    [...stereoMixFilters(audio), `aresample=async=1${start}`, ...OPUS_DELAY[container]].join(","),
    ...audioEncodeArguments(container, { channels, sampleRate }),
  ]
}

/** Video filters of several renditions, as chains of ffmpeg filters. */
type PictureFilters = {
  /** Filters that all renditions share, and that therefore run once. */
  shared: readonly string[]
  /** Filters of each rendition that follow the shared filters. */
  own: readonly (readonly string[])[]
}

/** Matches codecs whose pictures are never interlaced. */
const PROGRESSIVE_CODECS = /^(?:vp8|vp9|av1|gif|a?png|webp|bmp|tiff|svg|qoi|jpegxl|flashsv2?|vvc)$/
/** Matches codecs whose decoders mark interlaced frames. */
const FIELD_MARKING_CODECS =
  /^(?:h264|hevc|mpeg[124]video|mpeg4|vc1|wmv3|dvvideo|prores|mjpeg|dnxhd)$/
/** Size of the smallest picture that the deinterlacing filter accepts. */
const DEINTERLACED_MIN: PixelSize = { width: 3, height: 4 }
/** Matches names of pixel formats with transparency. */
const TRANSPARENT = /^(?:yuva|gbrap|argb|rgba|abgr|bgra|ya\d|pal8|ayuv|vuya)/

/**
 * Returns the filters that convert decoded frames of a source to pictures of several sizes with a
 * constant frame rate.
 */
export function scaledPictureFilters(
  video: SourceVideoStream,
  frameRate: FrameRate,
  sizes: readonly PixelSize[],
): PictureFilters {
  const conversion = planColourConversion(video)
  const steady = [...deinterlace(video), `fps=${formatFrameRate(frameRate)}`]
  if (conversion.type === "matrix") {
    const own = sizes.map((size) => [
      ...scaleInMatrix(video, size, conversion.from),
      ...finish(video, conversion),
    ])
    return { shared: steady, own }
  }
  // Converts the colours only once, at the largest size, because the conversion is slow.
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

/**
 * Returns the filter that merges the two fields of an interlaced frame. Progressive frames stay
 * unchanged.
 */
function deinterlace({ codec, fields, size }: SourceVideoStream): string[] {
  const isSmall = size.width < DEINTERLACED_MIN.width || size.height < DEINTERLACED_MIN.height
  if (fields === "progressive" || isSmall || PROGRESSIVE_CODECS.test(codec)) return []
  if (fields === null || FIELD_MARKING_CODECS.test(codec))
    return ["bwdif=mode=send_frame:deint=interlaced"]
  const parity = fields === "top" ? "tff" : "bff"
  return [`bwdif=mode=send_frame:parity=${parity}:deint=all`]
}

/**
 * Returns filters that scale a picture and convert its colours to BT.709. `from` is the colour
 * matrix of the source, by the name that the ffmpeg filter `scale` uses; null if the source has no
 * matrix.
 */
function scaleInMatrix(video: SourceVideoStream, size: PixelSize, from: string | null): string[] {
  const { pixelFormat } = video
  const into = "out_color_matrix=bt709:out_range=tv"
  if (TRANSPARENT.test(pixelFormat)) {
    const matrix = from === null ? "" : `:in_color_matrix=${from}`
    // Puts transparent pixels on a black background.
    const flat = ["format=gbrap", "premultiply=inplace=1", "format=gbrp"]
    return [`${scaleTo(video, size)}${matrix}`, ...flat, `scale=${into}`, "format=yuv420p"]
  }
  if (from === "bt709") return [`${scaleTo(video, size)}:out_range=tv`, "format=yuv420p"]
  const matrix = from === null ? "" : `in_color_matrix=${from}:`
  const exact = isRgbPixelFormat(pixelFormat) ? ":flags=bicubic+accurate_rnd+full_chroma_inp" : ""
  return [`${scaleTo(video, size)}:${matrix}${into}${exact}`, "format=yuv420p"]
}

/**
 * Returns the filter that scales a picture to a display size. Swaps width and height if a later
 * filter rotates the picture by a quarter turn.
 */
function scaleTo({ orientation }: SourceVideoStream, size: PixelSize): string {
  const { width, height } = orientation.swapsSides ? swapWidthAndHeight(size) : size
  return `scale=${width}:${height}`
}

/** Returns filters that rotate the picture and set the colour properties of its frames. */
function finish(
  { orientation }: SourceVideoStream,
  { primaries }: { primaries: string },
): string[] {
  const colours = `range=tv:color_primaries=${primaries}:color_trc=bt709:colorspace=bt709`
  return [
    ...orientation.filters,
    "setsar=1",
    "sidedata=mode=delete",
    `setparams=field_mode=prog:${colours}`,
  ]
}

/**
 * Returns the options of ffmpeg that encode the audio of an output. `sampleRate` is in samples per
 * second.
 */
export function audioEncodeArguments(
  container: RenditionContainer,
  sound: { channels: number; sampleRate: number | null },
): string[] {
  const { encoder, kbps } = AUDIO_ENCODER_PRESETS[container === "webm" ? "opus" : "aac"]
  // Mixes more than two channels to stereo, since some web players cannot play more than two
  // channels.
  const channels = sound.channels === 1 ? 1 : 2
  const rate = container !== "webm" && sound.sampleRate === 44_100 ? 44_100 : 48_000
  return [
    "-c:a",
    encoder,
    "-b:a",
    `${channels === 1 ? kbps.mono : kbps.stereo}k`,
    "-ac",
    String(channels),
    "-ar",
    String(rate),
  ]
}
