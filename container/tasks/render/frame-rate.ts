import type { FrameRate } from "../../tools/renditions/video-encoder-arguments.ts"

/**
 * Frame rates of a video stream that ffprobe reports. A rate is null if ffprobe reports no rate or
 * an invalid rate.
 */
export type ProbedFrameRates = {
  /** `r_frame_rate` of ffprobe: the lowest frame rate that represents all timestamps exactly. */
  base: FrameRate | null
  average: FrameRate | null
  isInterlaced: boolean
}

/** Frame rate of renditions if the frame rate of the source is unknown. */
const DEFAULT_FRAME_RATE = { frames: 25, seconds: 1 }
const RATE_MAX = 60
/**
 * Lowest frame rate of renditions, in frames per second. Frames of a slower source are repeated,
 * because players seek badly in slower videos.
 */
const RATE_MIN = 5
/**
 * Highest rate that counts as a frame rate, in frames per second. A higher rate is only the
 * resolution of the timestamps, as in screen recordings by browsers.
 */
const CAMERA_RATE_MAX = 480
/**
 * Maximum divisor of the frame rate of a fast source: at least one of four frames is kept. If a
 * larger divisor were needed, renditions instead have 60 frames per second, which looks smoother.
 */
const DIVISOR_MAX = 4

/**
 * Largest relative difference of two frame rates that count as equal. COUNTED_SHARE applies to the
 * mean rate of a source, which may be computed from counted frames. PROBED_SHARE applies to a
 * comparison with a standard rate.
 */
const COUNTED_SHARE = 0.01
const PROBED_SHARE = 0.0004

/**
 * Standard frame rates of films, cameras and screens. A rate that is close to a standard rate is
 * replaced by the standard rate.
 */
const STANDARD_RATES: readonly FrameRate[] = [
  ...[24_000, 30_000, 48_000, 60_000, 120_000].map((frames) => ({ frames, seconds: 1001 })),
  ...[5, 6, 8, 10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 100, 120].map(perSecond),
]
/**
 * Constant frame rates of renditions for a source with a variable frame rate, in frames per second.
 * Since some frames follow each other faster than the mean rate, the lowest rate that is not below
 * the mean rate is chosen.
 */
const EVEN_RATES = [30, 50, 60] as const
const FILM_RATE_MIN = 23.9

/**
 * Reports whether neither of the probed frame rates is usable, so that the frames have to be
 * counted.
 */
export function isFrameRateUnknown({ base, average }: ProbedFrameRates): boolean {
  return !isCameraRate(base) && !isCameraRate(average)
}

/**
 * Chooses the constant frame rate of renditions. The function keeps the rate of the source if that
 * rate is constant and supported by players.
 */
export function chooseFrameRate({ base, average, isInterlaced }: ProbedFrameRates): FrameRate {
  const usableBase = isCameraRate(base) ? base : null
  const mean = isCameraRate(average) ? average : usableBase
  if (!mean) return DEFAULT_FRAME_RATE
  const fields = usableBase && isInterlaced ? [dividedBy(usableBase, 2)] : []
  const steady = [usableBase, ...fields].find((rate) => rate && isClose(rate, mean, COUNTED_SHARE))
  if (steady) return limit(snap(steady))
  const isFine =
    usableBase &&
    toFramesPerSecond(usableBase) > toFramesPerSecond(mean) &&
    toFramesPerSecond(usableBase) <= EVEN_RATES[0]
  return isFine ? limit(snap(usableBase)) : evenRate(mean)
}

/** Converts a frame rate to a number of frames per second. */
export function toFramesPerSecond({ frames, seconds }: FrameRate): number {
  return frames / seconds
}

/** Formats a frame rate for options and filters of ffmpeg, such as "30000/1001". */
export function formatFrameRate({ frames, seconds }: FrameRate): string {
  return `${frames}/${seconds}`
}

function isCameraRate(rate: FrameRate | null): rate is FrameRate {
  return rate !== null && toFramesPerSecond(rate) <= CAMERA_RATE_MAX
}

function evenRate(mean: FrameRate): FrameRate {
  const film = snap(mean)
  if (
    film !== mean &&
    toFramesPerSecond(film) > FILM_RATE_MIN &&
    toFramesPerSecond(film) <= RATE_MAX
  )
    return film
  const least = toFramesPerSecond(mean) * (1 - COUNTED_SHARE)
  return perSecond(EVEN_RATES.find((rate) => rate >= least) ?? RATE_MAX)
}

/** Returns the standard frame rate that nearly equals `rate`. If there is none, returns `rate`. */
function snap(rate: FrameRate): FrameRate {
  return STANDARD_RATES.find((each) => isClose(each, rate, PROBED_SHARE)) ?? rate
}

/**
 * Limits a frame rate to the range for renditions, 5 to 60 frames per second. Keeps every second,
 * third or fourth frame of a fast source, and repeats frames of a slow source.
 */
function limit(rate: FrameRate): FrameRate {
  const value = toFramesPerSecond(rate)
  if (value < RATE_MIN) {
    return snap({ ...rate, frames: rate.frames * Math.ceil(RATE_MIN / value) })
  }
  const divisor = Math.ceil(value / RATE_MAX - PROBED_SHARE)
  if (divisor <= 1) return rate
  return divisor <= DIVISOR_MAX ? dividedBy(rate, divisor) : perSecond(RATE_MAX)
}

function dividedBy({ frames, seconds }: FrameRate, divisor: number): FrameRate {
  return frames % divisor === 0
    ? { frames: frames / divisor, seconds }
    : { frames, seconds: seconds * divisor }
}

function isClose(one: FrameRate, other: FrameRate, share: number): boolean {
  return Math.abs(toFramesPerSecond(one) / toFramesPerSecond(other) - 1) <= share
}

function perSecond(frames: number): FrameRate {
  return { frames, seconds: 1 }
}
