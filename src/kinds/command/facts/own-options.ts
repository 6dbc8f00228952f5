/** Options that no help of ffmpeg lists, since they belong to pictures and subtitles both, or print. */
const UNLISTED = new Set("i s h help dec stag fpre hwaccels psnr deinterlace re".split(" "))

const X264_PRESETS =
  "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo 0 1 2 3 4 5 6 7 8 9"
const X264_PROFILES = "baseline main high high10 high422 high444"
const X264_TUNES = "film animation grain stillimage psnr ssim fastdecode zerolatency touhou"
/** Names of presets and the like that encoders keep to themselves, by encoder and option. */
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

/** Whether an option of this name is ffmpeg's own, though no help lists it. */
export function isUnlisted(name: string): boolean {
  return UNLISTED.has(name)
}

/** The words that the value of an encoder's option may be; null where it may be more. */
export function encoderChoices(encoder: string, option: string): string[] | null {
  return ENCODER_CHOICES[`${encoder} ${option}`]?.split(" ") ?? null
}
