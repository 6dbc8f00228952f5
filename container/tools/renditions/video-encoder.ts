import { availableParallelism } from "node:os"
import type { RenditionCodec, RenditionContainer } from "../../../src/contract/tasks/render.ts"
import {
  CLASS_PIXELS,
  KEYFRAME_SECONDS,
  RATE_CONTROL,
  SVT_RATE,
  THREADS_MAX,
  VIDEO_PRESETS,
} from "./presets.ts"
import type { PictureClass } from "./presets.ts"

/** Frames in some seconds: 30000/1001 is { frames: 30000, seconds: 1001 }. */
export type FrameRate = { frames: number; seconds: number }

/** One stream of pictures to make; `bitrateKbps` is its mean rate, without which quality decides. */
export type VideoTarget = {
  codec: RenditionCodec
  container: RenditionContainer
  width: number
  height: number
  frameRate: FrameRate
  bitrateKbps: number | null
}

/** Pictures of 4:2:0 have even sides. */
const SIDE_MIN = 2

type Pass = { number: 1 | 2; log: string }

type Choice = {
  crf: number
  speed: string
  gop: number
  threads: number
  target: VideoTarget
  pass: Pass
}

/** How often ffmpeg has to run for a stream: a rate is met by what a first run found out. */
export function passesOf({ codec, bitrateKbps }: VideoTarget): 1 | 2 {
  return bitrateKbps === null ? 1 : VIDEO_PRESETS[codec].passes
}

/** The least side of a picture that is encoded with a codec, in pixels. */
export function sideMinOf(codec: RenditionCodec): number {
  const { sideMin, smallEncoder } = VIDEO_PRESETS[codec]
  return smallEncoder === undefined ? sideMin : SIDE_MIN
}

/**
 * ffmpeg's options that encode the pictures of an output, with a keyframe each 2 s and none between;
 * `log` names files of the workspace that both passes of a stream share, and no other stream.
 */
export function videoArguments(target: VideoTarget, pass: Pass): string[] {
  const preset = VIDEO_PRESETS[target.codec]
  const size = sizeOf(target)
  const choice: Choice = {
    crf: preset.crf[size],
    speed: preset.speed[size],
    gop: gopOf(target.frameRate),
    threads: Math.min(THREADS_MAX, availableParallelism()),
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
    ...(ENCODER_ARGUMENTS[encoder]?.(choice).split(" ") ?? []),
    ...(target.container === "webm" ? [] : ["-tag:v", preset.tag]),
  ]
}

/** Frames from one keyframe to the next. */
export function gopOf({ frames, seconds }: FrameRate): number {
  return Math.max(1, Math.round((KEYFRAME_SECONDS * frames) / seconds))
}

function sizeOf({ width, height }: VideoTarget): PictureClass {
  return CLASS_PIXELS.find(([, pixels]) => width * height <= pixels)?.[0] ?? "uhd"
}

const ENCODER_ARGUMENTS: Record<string, (choice: Choice) => string> = {
  libx264: x264Arguments,
  libx265: x265Arguments,
  "libvpx-vp9": vp9Arguments,
  libsvtav1: svtArguments,
  "libaom-av1": aomArguments,
}

function x264Arguments(choice: Choice): string {
  const { speed, gop, threads } = choice
  return (
    `-preset ${speed} -profile:v high -threads ${threads} ${rateArguments(choice)} ` +
    `-g ${gop} -keyint_min ${gop} -sc_threshold 0 ` +
    `-x264-params ${["open-gop=0", ...sharedPass(choice, FAST_X264)].join(":")}`
  )
}

/** What x264 leaves out of a first pass by itself where ffmpeg, not a parameter, names the pass. */
const FAST_X264 = ["ref=1", "8x8dct=0", "partitions=none", "me=dia", "subme=2", "trellis=0"]

function x265Arguments(choice: Choice): string {
  const { speed, gop, threads } = choice
  const parameters = [
    "log-level=error",
    `pools=${threads}`,
    `keyint=${gop}`,
    `min-keyint=${gop}`,
    "scenecut=0",
    "open-gop=0",
    ...sharedPass(choice, ["slow-firstpass=0"]),
  ]
  return `-preset ${speed} ${rateArguments(choice)} -x265-params ${parameters.join(":")}`
}

function vp9Arguments(choice: Choice): string {
  const { speed, gop, threads, target, pass } = choice
  const passes = passesOf(target) === 2 ? ` -pass ${pass.number} -passlogfile ${pass.log}` : ""
  return (
    `-deadline good -cpu-used ${speed} -row-mt 1 -tile-columns ${tileColumns(target.width)} ` +
    `-threads ${threads} ${rateArguments(choice, " -b:v 0")} ` +
    `-g ${gop} -keyint_min ${gop} -auto-alt-ref 1 -lag-in-frames 25${passes}`
  )
}

function svtArguments({ target, crf, speed, gop, threads }: Choice): string {
  const { bitrateKbps } = target
  // Only beside a constant quality does it take a -maxrate.
  const rate =
    bitrateKbps === null ? `-crf ${crf}` : `-b:v ${Math.round(bitrateKbps * SVT_RATE.asked)}k`
  const parameters = [`lp=${threads}`, ...(bitrateKbps === null ? [] : SVT_RATE.parameters)]
  return `-preset ${speed} ${rate} -g ${gop} -svtav1-params ${parameters.join(":")}`
}

/** For pictures that are too small for SVT-AV1, at a speed at which their smallness costs nothing. */
function aomArguments(choice: Choice): string {
  const { gop, threads } = choice
  return (
    `-cpu-used 6 -row-mt 1 -threads ${threads} ${rateArguments(choice, " -b:v 0")} ` +
    `-g ${gop} -keyint_min ${gop}`
  )
}

function rateArguments({ target: { bitrateKbps }, crf }: Choice, quality = ""): string {
  if (bitrateKbps === null) return `-crf ${crf}${quality}`
  const peak = Math.round(bitrateKbps * RATE_CONTROL.peak)
  const buffer = Math.round(bitrateKbps * RATE_CONTROL.bufferSeconds)
  return `-b:v ${bitrateKbps}k -maxrate ${peak}k -bufsize ${buffer}k`
}

/** Passes by parameters, since ffmpeg's own names of the log depend on the other streams of a run. */
function sharedPass({ target, pass }: Choice, fast: string[]): string[] {
  if (passesOf(target) === 1) return []
  return [`pass=${pass.number}`, `stats=${pass.log}`, ...(pass.number === 1 ? fast : [])]
}

/** A column of tiles is at least 256 wide, and each is a thread's; the number is a power of two. */
function tileColumns(width: number): number {
  return Math.min(2, Math.max(0, Math.floor(Math.log2(width / 256))))
}
