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
  /** Whether a stream below its rate may be one whose rate was missed, not a picture that needs no more. */
  missesBelow: boolean
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
 * SVT-AV1 has one pass by ffmpeg. What it holds back by itself leaves 10 to 20 % of a rate unused; with
 * these parameters it used 95 to 99 % of 150 to 3000 kbit/s at 480p (version 1.4, ffmpeg 5.1) and 87 to
 * 94 % (2.3, ffmpeg 7.1), so that asking for a little more is within 8 % with both.
 */
export const SVT_RATE = {
  asked: 1.06,
  parameters: ["undershoot-pct=0", "overshoot-pct=100", "maxsection-pct=400"],
}

/** More threads than this gain nothing at 4K, and each takes memory for frames. */
export const THREADS_MAX = 16

/**
 * At these qualities the codecs are alike: SSIM 0.967 to 0.971 of 6 s of photographs and drawn leaves
 * that are panned over, with grain, at 480p (x264 1430, x265 830, VP9 840, AV1 600 kbit/s), and
 * 0.978 to 0.981 of a second of the leaves at 1080p. 4K was not measured.
 */
export const VIDEO_PRESETS: Record<RenditionCodec, VideoPreset> = {
  h264: {
    encoder: "libx264",
    sideMin: 2,
    // One better than x264's 23, whose losses are seen on large screens.
    crf: { sd: 22, hd: 22, fullHd: 22, uhd: 22 },
    // What slower ones save costs more processor time than it is worth for one delivery.
    speed: { sd: "medium", hd: "medium", fullHd: "medium", uhd: "medium" },
    // One pass came 5 to 6 % below the rates, two within 4 %; a first pass is quick.
    passes: 2,
    missesBelow: false,
    tag: "avc1",
  },
  h265: {
    encoder: "libx265",
    // x265 takes no picture with a shorter side.
    sideMin: 16,
    crf: { sd: 24, hd: 24, fullHd: 24, uhd: 24 },
    // Where there are most pixels, time counts for more than the last bits.
    speed: { sd: "medium", hd: "medium", fullHd: "fast", uhd: "fast" },
    // Within 1 %; one pass is within 3 %, and spends the bits where they show less.
    passes: 2,
    missesBelow: false,
    // Apple's players take no hev1.
    tag: "hvc1",
  },
  vp9: {
    encoder: "libvpx-vp9",
    sideMin: 2,
    // Large pictures are seen on large screens, so that less loss is taken there.
    crf: { sd: 32, hd: 32, fullHd: 31, uhd: 28 },
    // At 1080p it took as long as x264's medium.
    speed: { sd: "2", hd: "3", fullHd: "4", uhd: "5" },
    // One pass made up to 3.8 times the rate, two within 1 %.
    passes: 2,
    // A stream of a single group of pictures had 66 % of its rate.
    missesBelow: true,
    tag: "vp09",
  },
  av1: {
    encoder: "libsvtav1",
    sideMin: 64,
    smallEncoder: "libaom-av1",
    crf: { sd: 35, hd: 35, fullHd: 35, uhd: 35 },
    // At 1080p, 8 took less time than x264's medium.
    speed: { sd: "7", hd: "8", fullHd: "8", uhd: "9" },
    // ffmpeg 5.1 has no second pass for it.
    passes: 1,
    missesBelow: true,
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
