import { availableParallelism } from "node:os"
import type { RenditionCodec, RenditionContainer } from "../../../src/contract/tasks/render.ts"
import {
  SIZE_CLASS_PIXELS_MAX,
  KEYFRAME_INTERVAL_SECONDS,
  VIDEO_BITRATE_CONTROL,
  SVT_AV1_BITRATE_CONTROL,
  ENCODER_THREADS_MAX,
  VIDEO_ENCODER_PRESETS,
} from "./encoder-presets.ts"
import type { PictureSizeClass } from "./encoder-presets.ts"

/** Frame rate as an exact fraction: 30000/1001 is { frames: 30000, seconds: 1001 }. */
export type FrameRate = { frames: number; seconds: number }

/**
 * Properties of a video stream to encode. `bitrateKbps` is the mean bitrate; null means constant
 * quality.
 */
export type VideoEncodeTarget = {
  codec: RenditionCodec
  container: RenditionContainer
  width: number
  height: number
  frameRate: FrameRate
  bitrateKbps: number | null
}

/** Shortest side that a picture may have, in pixels. With 4:2:0 chroma, sides must be even. */
const SIDE_MIN = 2

type Pass = { number: 1 | 2; log: string }

type EncoderSettings = {
  crf: number
  speed: string
  gop: number
  threads: number
  target: VideoEncodeTarget
  pass: Pass
}

/**
 * Returns the number of encoder passes for a target. Only a target with a bitrate may need two
 * passes, of which the first analyses the video.
 */
export function countEncodePasses({ codec, bitrateKbps }: VideoEncodeTarget): 1 | 2 {
  return bitrateKbps === null ? 1 : VIDEO_ENCODER_PRESETS[codec].passes
}

/** Returns the shortest side of a picture that an encoder of the codec can encode, in pixels. */
export function shortestEncodableSidePixels(codec: RenditionCodec): number {
  const { sideMin, smallEncoder } = VIDEO_ENCODER_PRESETS[codec]
  return smallEncoder === undefined ? sideMin : SIDE_MIN
}

/**
 * Returns the options of ffmpeg that encode the video of an output, with exactly one keyframe every
 * 2 s. `log` is the name of the pass log in the workspace, which both passes of a stream share.
 */
export function videoEncoderArguments(target: VideoEncodeTarget, pass: Pass): string[] {
  const preset = VIDEO_ENCODER_PRESETS[target.codec]
  const size = sizeOf(target)
  const settings: EncoderSettings = {
    crf: preset.crf[size],
    speed: preset.speed[size],
    gop: keyframeIntervalFrames(target.frameRate),
    threads: Math.min(ENCODER_THREADS_MAX, availableParallelism()),
    target,
    pass,
  }
  const isSmall = Math.min(target.width, target.height) < preset.sideMin
  const encoder = (isSmall && preset.smallEncoder) || preset.encoder
  return [
    "-c:v",
    encoder,
    "-pix_fmt",
    "yuv420p",
    ...(ENCODER_ARGUMENTS[encoder]?.(settings).split(" ") ?? []),
    ...(target.container === "webm" ? [] : ["-tag:v", preset.tag]),
  ]
}

/** Returns the interval between two keyframes as a number of frames. */
export function keyframeIntervalFrames({ frames, seconds }: FrameRate): number {
  return Math.max(1, Math.round((KEYFRAME_INTERVAL_SECONDS * frames) / seconds))
}

function sizeOf({ width, height }: VideoEncodeTarget): PictureSizeClass {
  return SIZE_CLASS_PIXELS_MAX.find(([, pixels]) => width * height <= pixels)?.[0] ?? "uhd"
}

const ENCODER_ARGUMENTS: Record<string, (settings: EncoderSettings) => string> = {
  libx264: x264Arguments,
  libx265: x265Arguments,
  "libvpx-vp9": vp9Arguments,
  libsvtav1: svtArguments,
  "libaom-av1": aomArguments,
}

function x264Arguments(settings: EncoderSettings): string {
  const { speed, gop, threads } = settings
  return (
    `-preset ${speed} -profile:v high -threads ${threads} ${rateArguments(settings)} ` +
    `-g ${gop} -keyint_min ${gop} -sc_threshold 0 ` +
    `-x264-params ${["open-gop=0", ...passParameters(settings, FAST_X264)].join(":")}`
  )
}

/**
 * Fast settings for a first pass of x264. x264 applies such settings by itself only if ffmpeg sets
 * the pass by `-pass`.
 */
const FAST_X264 = ["ref=1", "8x8dct=0", "partitions=none", "me=dia", "subme=2", "trellis=0"]

function x265Arguments(settings: EncoderSettings): string {
  const { speed, gop, threads } = settings
  const parameters = [
    "log-level=error",
    `pools=${threads}`,
    `keyint=${gop}`,
    `min-keyint=${gop}`,
    "scenecut=0",
    "open-gop=0",
    ...passParameters(settings, ["slow-firstpass=0"]),
  ]
  return `-preset ${speed} ${rateArguments(settings)} -x265-params ${parameters.join(":")}`
}

function vp9Arguments(settings: EncoderSettings): string {
  const { speed, gop, threads, target, pass } = settings
  const passes =
    countEncodePasses(target) === 2 ? ` -pass ${pass.number} -passlogfile ${pass.log}` : ""
  return (
    `-deadline good -cpu-used ${speed} -row-mt 1 -tile-columns ${tileColumns(target.width)} ` +
    `-threads ${threads} ${rateArguments(settings, " -b:v 0")} ` +
    `-g ${gop} -keyint_min ${gop} -auto-alt-ref 1 -lag-in-frames 25${passes}`
  )
}

function svtArguments({ target, crf, speed, gop, threads }: EncoderSettings): string {
  const { bitrateKbps } = target
  // Sets no `-maxrate`, which SVT-AV1 supports only with constant quality.
  const rate =
    bitrateKbps === null
      ? `-crf ${crf}`
      : `-b:v ${Math.round(bitrateKbps * SVT_AV1_BITRATE_CONTROL.requestFactor)}k`
  const parameters = [
    `lp=${threads}`,
    ...(bitrateKbps === null ? [] : SVT_AV1_BITRATE_CONTROL.parameters),
  ]
  return `-preset ${speed} ${rate} -g ${gop} -svtav1-params ${parameters.join(":")}`
}

/**
 * Returns the options of libaom for pictures that are too small for SVT-AV1. libaom is slow, but
 * fast enough for this size.
 */
function aomArguments(settings: EncoderSettings): string {
  const { gop, threads } = settings
  return (
    `-cpu-used 6 -row-mt 1 -threads ${threads} ${rateArguments(settings, " -b:v 0")} ` +
    `-g ${gop} -keyint_min ${gop}`
  )
}

function rateArguments({ target: { bitrateKbps }, crf }: EncoderSettings, quality = ""): string {
  if (bitrateKbps === null) return `-crf ${crf}${quality}`
  const peak = Math.round(bitrateKbps * VIDEO_BITRATE_CONTROL.peak)
  const buffer = Math.round(bitrateKbps * VIDEO_BITRATE_CONTROL.bufferSeconds)
  return `-b:v ${bitrateKbps}k -maxrate ${peak}k -bufsize ${buffer}k`
}

/**
 * Returns encoder parameters that select the pass and the log file of the pass. The options of
 * ffmpeg for two passes are not used, because ffmpeg derives the names of its pass logs from the
 * other streams of the run.
 */
function passParameters({ target, pass }: EncoderSettings, fast: string[]): string[] {
  if (countEncodePasses(target) === 1) return []
  return [`pass=${pass.number}`, `stats=${pass.log}`, ...(pass.number === 1 ? fast : [])]
}

/**
 * Returns the binary logarithm of the number of tile columns, which can be encoded in parallel. A
 * column is at least 256 pixels wide.
 */
function tileColumns(width: number): number {
  return Math.min(2, Math.max(0, Math.floor(Math.log2(width / 256))))
}
