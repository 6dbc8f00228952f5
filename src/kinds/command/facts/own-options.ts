/**
 * What ffmpeg's help does not say of its own options: on which side they stand, and what their values
 * are. Names that are in no table are for both sides, and of any value.
 */

/** Options that no help lists, since they belong to pictures and subtitles both, or print. */
const UNLISTED = "i s h help dec stag fpre hwaccels psnr deinterlace re"

/** Options of inputs alone. */
const OF_INPUTS =
  "sseof seek_timestamp accurate_seek isync itsoffset re readrate readrate_initial_burst dump_attachment stream_loop find_stream_info itsscale discard reinit_filter hwaccel hwaccel_device hwaccel_output_format autorotate apply_cropping fix_sub_duration canvas_size display_rotation display_hflip display_vflip guess_layout_max"

/** Options of outputs alone. */
const OF_OUTPUTS =
  "metadata map map_metadata map_chapters fs timestamp program stream_group dframes target shortest shortest_buf_duration qscale profile attach muxdelay muxpreload frames q filter vf af disposition enc_time_base max_muxing_queue_size muxing_queue_data_threshold aspect vframes fpsmax pass passlogfile rc_override intra_matrix inter_matrix chroma_intra_matrix force_fps streamid force_key_frames fps_mode autoscale fix_sub_duration_heartbeat aq aframes apad copyinkf copypriorss timecode"

/** How the value of an option is read: whole and other numbers, and the letters of ffmpeg-facts.ts. */
export type ValueType = "whole" | "number" | "v" | "z" | "t" | "p" | "a" | "l" | "ratio" | "aspect"

const VALUES: readonly (readonly [ValueType, string])[] = [
  [
    "whole",
    "ac ar aframes vframes dframes frames thread_queue_size stream_loop max_muxing_queue_size muxing_queue_data_threshold guess_layout_max isync cpucount bits_per_raw_sample pass copytb top filter_complex_threads",
  ],
  [
    "number",
    "fs q qscale aq muxdelay muxpreload itsscale readrate readrate_initial_burst dts_delta_threshold dts_error_threshold frame_drop_threshold max_error_rate display_rotation shortest_buf_duration timelimit",
  ],
  ["v", "r fpsmax"],
  ["z", "s canvas_size"],
  ["t", "t to ss sseof itsoffset stats_period"],
  ["p", "pix_fmt"],
  ["a", "sample_fmt"],
  ["l", "channel_layout ch_layout"],
  ["ratio", "time_base enc_time_base"],
  ["aspect", "aspect"],
]

/** Values that are one of some words. */
const CHOICES: Record<string, string> = {
  vsync: "passthrough cfr vfr drop auto vscfr -1 0 1 2",
  fps_mode: "passthrough cfr vfr drop auto vscfr -1 0 1 2",
  discard: "none default noref bidir nointra nokey all",
  apply_cropping: "none all codec container",
}

/** Names of presets and the like that encoders keep to themselves, by encoder and option. */
const X264_PRESETS =
  "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo 0 1 2 3 4 5 6 7 8 9"
const X264_PROFILES = "baseline main high high10 high422 high444"
const ENCODER_CHOICES: Record<string, string> = {
  "libx264 preset": X264_PRESETS,
  "libx264rgb preset": X264_PRESETS,
  "libx265 preset": X264_PRESETS,
  "libx264 profile": X264_PROFILES,
  "libx264rgb profile": X264_PROFILES,
  "libx265 profile":
    "main main10 mainstillpicture msp main-intra main10-intra main444-8 main444-intra main444-stillpicture main422-10 main422-10-intra main444-10 main444-10-intra main12 main12-intra main422-12 main422-12-intra main444-12 main444-12-intra main444-16-intra main444-16-stillpicture",
  "aac profile":
    "aac_main aac_low aac_ssr aac_ltp aac_he aac_he_v2 aac_ld aac_eld mpeg2_aac_low mpeg2_aac_he unknown",
  "libx264 tune": "film animation grain stillimage psnr ssim fastdecode zerolatency touhou",
  "libx264rgb tune": "film animation grain stillimage psnr ssim fastdecode zerolatency touhou",
  "libx265 tune": "psnr ssim grain fastdecode fast-decode zerolatency zero-latency animation vmaf",
}

const TYPES = new Map<string, ValueType>(
  VALUES.flatMap(([type, names]) => names.split(" ").map((name) => [name, type] as const)),
)
const UNLISTED_NAMES = new Set(UNLISTED.split(" "))
const INPUTS = new Set(OF_INPUTS.split(" "))
const OUTPUTS = new Set(OF_OUTPUTS.split(" "))

export function isUnlisted(name: string): boolean {
  return UNLISTED_NAMES.has(name)
}

/** The one side that an option of ffmpeg's own is for; null where it is for both. */
export function sideOf(name: string): "input" | "output" | null {
  if (INPUTS.has(name)) return "input"
  return OUTPUTS.has(name) ? "output" : null
}

/** How an option's value is read; null where only ffmpeg knows. */
export function valueTypeOf(name: string): ValueType | null {
  return TYPES.get(name) ?? null
}

/** The words that a value may be; null where it may be more. */
export function choicesOf(name: string): string[] | null {
  return Object.hasOwn(CHOICES, name) ? (CHOICES[name]?.split(" ") ?? null) : null
}

/** The words that the value of an encoder's option may be; null where it may be more. */
export function encoderChoices(encoder: string, option: string): string[] | null {
  return ENCODER_CHOICES[`${encoder} ${option}`]?.split(" ") ?? null
}
