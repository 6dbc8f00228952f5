import type { RenditionCodec } from "../../../src/contract/tasks/render.ts"

/** A class of pictures by their number of pixels, for numbers that a person chooses by size. */
export type PictureClass = "sd" | "hd" | "fullHd" | "uhd"
type BySize = Record<PictureClass, number>

/** How the pictures of a codec are encoded. */
export type VideoPreset = {
  /** ffmpeg's encoder, and the one for pictures whose shorter side is below its least. */
  encoder: string
  sideMin: number
  smallEncoder?: string
  /** The constant quality where no rate is asked for; each encoder has a scale of its own. */
  crf: BySize
  /** The encoder's trade of time for size; each encoder has a scale of its own. */
  speed: Record<PictureClass, string>
  /** Passes where a rate is asked for. */
  passes: 1 | 2
  /** The tag of the stream in MP4 and MOV. */
  tag: string
}

/** The most pixels of each class; a picture is in the first that holds it. */
export const CLASS_PIXELS: readonly [PictureClass, number][] = [
  ["sd", 854 * 480],
  ["hd", 1280 * 720],
  ["fullHd", 1920 * 1080],
  ["uhd", Infinity],
]

/** Players of segments switch at keyframes, and one seeks to them: 2 s is what HLS and DASH use. */
export const KEYFRAME_SECONDS = 2

/** Peaks of the rate over the mean, and the buffer of a player in seconds of the mean. */
export const RATE_CONTROL = { peak: 1.5, bufferSeconds: 2 }

/**
 * SVT-AV1 has one pass here and no peak of its own for a rate. What it holds back by itself leaves 10
 * to 20 % of a rate unused (measured with 1.4 and 2.3); with these it uses 94 to 99 %.
 */
export const SVT_RATE_PARAMETERS = ["undershoot-pct=0", "overshoot-pct=100", "maxsection-pct=400"]

/** More threads than this gain nothing at 4K, and each takes memory for frames. */
export const THREADS_MAX = 16

export const VIDEO_PRESETS: Record<RenditionCodec, VideoPreset> = {
  h264: {
    encoder: "libx264",
    sideMin: 2,
    crf: { sd: 21, hd: 21, fullHd: 21, uhd: 21 },
    speed: { sd: "medium", hd: "medium", fullHd: "medium", uhd: "medium" },
    passes: 2,
    tag: "avc1",
  },
  h265: {
    encoder: "libx265",
    sideMin: 16,
    crf: { sd: 24, hd: 24, fullHd: 24, uhd: 24 },
    speed: { sd: "medium", hd: "medium", fullHd: "fast", uhd: "fast" },
    passes: 2,
    // Apple's players take no hev1.
    tag: "hvc1",
  },
  vp9: {
    encoder: "libvpx-vp9",
    sideMin: 2,
    crf: { sd: 32, hd: 32, fullHd: 31, uhd: 28 },
    speed: { sd: "2", hd: "3", fullHd: "4", uhd: "5" },
    passes: 2,
    tag: "vp09",
  },
  av1: {
    encoder: "libsvtav1",
    sideMin: 64,
    smallEncoder: "libaom-av1",
    crf: { sd: 32, hd: 32, fullHd: 32, uhd: 32 },
    speed: { sd: "7", hd: "8", fullHd: "8", uhd: "9" },
    passes: 1,
    tag: "av01",
  },
}

/** How the sound of a container is encoded; rates in kbit/s by the number of channels. */
export const AUDIO_PRESETS = {
  // ffmpeg's own AAC is transparent to most at 128 for stereo.
  aac: { encoder: "aac", kbps: { mono: 80, stereo: 128 } },
  // Opus is as good with less.
  opus: { encoder: "libopus", kbps: { mono: 64, stereo: 112 } },
} as const
