import type { RenditionCodec } from "../../../src/contract/tasks/render.ts"

/**
 * Size class of a picture by its number of pixels, for encoder settings that depend on the size.
 */
export type PictureSizeClass = "sd" | "hd" | "fullHd" | "uhd"
type BySize = Record<PictureSizeClass, number>

/** Encoder settings of a video codec. */
export type VideoEncoderPreset = {
  /**
   * Encoder of ffmpeg. `sideMin` is the shortest side of a picture, in pixels, that the encoder
   * supports. `smallEncoder` encodes smaller pictures.
   */
  encoder: string
  sideMin: number
  smallEncoder?: string
  /**
   * Constant quality (CRF) for renditions without a requested bitrate. Each encoder has a scale of
   * its own.
   */
  crf: BySize
  /** Speed setting of the encoder, by size class. Each encoder has a scale of its own. */
  speed: Record<PictureSizeClass, string>
  /** Number of encoder passes for renditions with a requested bitrate. */
  passes: 1 | 2
  /**
   * Whether the encoder may use less than its bitrate although more bits would improve the picture.
   * An encode with a higher bitrate then helps.
   */
  missesBelow: boolean
  /** Codec tag of the stream in MP4 and MOV. */
  tag: string
}

/**
 * Maximum number of pixels of each size class. The first class that fits a picture applies to the
 * picture.
 */
export const SIZE_CLASS_PIXELS_MAX: readonly [PictureSizeClass, number][] = [
  ["sd", 854 * 480],
  ["hd", 1280 * 720],
  ["fullHd", 1920 * 1080],
  ["uhd", Infinity],
]

/**
 * Interval between keyframes, in seconds. Players seek and switch renditions at keyframes. Two
 * seconds are usual for HLS and DASH.
 */
export const KEYFRAME_INTERVAL_SECONDS = 2

/**
 * Bitrate control of encoders: the maximum bitrate relative to the mean bitrate (`peak`), and the
 * size of the player's buffer in seconds at the mean bitrate.
 */
export const VIDEO_BITRATE_CONTROL = { peak: 1.5, bufferSeconds: 2 }

/**
 * Bitrate control of SVT-AV1, which has one pass in ffmpeg. With default parameters, the encoder
 * leaves 10 to 20 % of a bitrate unused. With these parameters, the encoder used 95 to 99 % of 150
 * to 3000 kbit/s at 480p (version 1.4, ffmpeg 5.1) and 87 to 94 % (2.3, ffmpeg 7.1). With a
 * requested bitrate that is 6 % higher, both versions are within 8 % of the intended bitrate.
 */
export const SVT_AV1_BITRATE_CONTROL = {
  requestFactor: 1.06,
  parameters: ["undershoot-pct=0", "overshoot-pct=100", "maxsection-pct=400"],
}

/**
 * Maximum number of threads of an encoder. More threads do not save time even at 4K, and each
 * thread keeps frames in memory.
 */
export const ENCODER_THREADS_MAX = 16

/**
 * Presets of the video codecs. The presets have similar quality. SSIM was 0.967 to 0.971 for 6 s of
 * panned photographs and drawn leaves with grain at 480p (x264 1430, x265 830, VP9 840, AV1 600
 * kbit/s). SSIM was 0.978 to 0.981 for a second of the leaves at 1080p. 4K was not measured.
 */
export const VIDEO_ENCODER_PRESETS: Record<RenditionCodec, VideoEncoderPreset> = {
  h264: {
    encoder: "libx264",
    sideMin: 2,
    // The quality is one step better than x264's default of 23, whose artifacts are visible on
    // large screens.
    crf: { sd: 22, hd: 22, fullHd: 22, uhd: 22 },
    // Slower presets take much more CPU time for slightly smaller files.
    speed: { sd: "medium", hd: "medium", fullHd: "medium", uhd: "medium" },
    // A single pass used 5 to 6 % less than the target bitrates. Two passes are within 4 % of them,
    // and a first pass is fast.
    passes: 2,
    missesBelow: false,
    tag: "avc1",
  },
  h265: {
    encoder: "libx265",
    // Shortest side of a picture, in pixels, that x265 can encode.
    sideMin: 16,
    crf: { sd: 24, hd: 24, fullHd: 24, uhd: 24 },
    // Large pictures take so much time that speed matters more than file size.
    speed: { sd: "medium", hd: "medium", fullHd: "fast", uhd: "fast" },
    // Two passes are within 1 % of the bitrate. A single pass is within 3 %, but spends bits on
    // parts of the video where the bits are less visible.
    passes: 2,
    missesBelow: false,
    // Apple's players do not play streams with the tag hev1.
    tag: "hvc1",
  },
  vp9: {
    encoder: "libvpx-vp9",
    sideMin: 2,
    // Large pictures get a better quality, because they are watched on large screens.
    crf: { sd: 32, hd: 32, fullHd: 31, uhd: 28 },
    // At 1080p, an encode with this speed took as long as one with the preset `medium` of x264.
    speed: { sd: "2", hd: "3", fullHd: "4", uhd: "5" },
    // A single pass used up to 3.8 times the bitrate, two passes were within 1 %.
    passes: 2,
    // The encoder may stay far below its bitrate: a stream with a single keyframe used only 66 %.
    missesBelow: true,
    tag: "vp09",
  },
  av1: {
    encoder: "libsvtav1",
    sideMin: 64,
    smallEncoder: "libaom-av1",
    crf: { sd: 35, hd: 35, fullHd: 35, uhd: 35 },
    // Speed 8 took less time at 1080p than the preset `medium` of x264.
    speed: { sd: "7", hd: "8", fullHd: "8", uhd: "9" },
    // ffmpeg 5.1 does not support two passes of SVT-AV1.
    passes: 1,
    missesBelow: true,
    tag: "av01",
  },
}

/** Audio encoders of renditions, with bitrates in kbit/s by the number of channels. */
export const AUDIO_ENCODER_PRESETS = {
  // Most listeners cannot distinguish ffmpeg's AAC at 128 kbit/s stereo from the original.
  aac: { encoder: "aac", kbps: { mono: 80, stereo: 128 } },
  // Opus has the same quality as AAC at a lower bitrate.
  opus: { encoder: "libopus", kbps: { mono: 64, stereo: 112 } },
} as const
