/**
 * Options that ffmpeg has but its help does not list, such as options for both video and subtitles,
 * and options that print information.
 */
const UNLISTED = new Set("i s h help dec stag fpre hwaccels psnr deinterlace re".split(" "))

const X264_PRESETS =
  "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo 0 1 2 3 4 5 6 7 8 9"
const X264_PROFILES = "baseline main high high10 high422 high444"
const X264_TUNES = "film animation grain stillimage psnr ssim fastdecode zerolatency touhou"
/** Values of encoder options that ffmpeg does not list, such as presets, by encoder and option. */
const ENCODER_CHOICES: Record<string, string> = {
  "libx264 preset": X264_PRESETS,
  "libx264rgb preset": X264_PRESETS,
  "libx265 preset": X264_PRESETS,
  "libx264 profile": X264_PROFILES,
  "libx264rgb profile": X264_PROFILES,
  "libx264 tune": X264_TUNES,
  "libx264rgb tune": X264_TUNES,
  "libx265 tune": "psnr ssim grain fastdecode fast-decode zerolatency zero-latency animation vmaf",
}

/** Reports whether ffmpeg has an option of this name that its help does not list. */
export function isUnlistedOption(name: string): boolean {
  return UNLISTED.has(name)
}

/** Returns all possible values of an encoder's option; null if the option may have other values. */
export function listEncoderOptionValues(encoder: string, option: string): string[] | null {
  return ENCODER_CHOICES[`${encoder} ${option}`]?.split(" ") ?? null
}
