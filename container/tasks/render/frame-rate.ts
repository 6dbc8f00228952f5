import type { FrameRate } from "../../tools/renditions/video-encoder.ts"

/** What a probe says of the rate of a picture; null where it says nothing that can be. */
export type ProbedRate = {
  /** The lowest rate at which the times of all frames can be told, as ffmpeg guesses it. */
  base: FrameRate | null
  average: FrameRate | null
  isInterlaced: boolean
}

/** A picture of which nothing is known has this rate. */
const USUAL = { frames: 25, seconds: 1 }
const RATE_MAX = 60
/** Below it frames are repeated, since players seek badly in what has fewer. */
const RATE_MIN = 5
/** More is the rate of a clock and not of a camera, as recordings of browsers have it. */
const CAMERA_RATE_MAX = 480
/** More frames are not left out for one that is kept: the rest would be less even than 60. */
const DIVISOR_MAX = 4

/** How far apart rates are that mean the same: where frames were counted, and where it is told. */
const COUNTED_SHARE = 0.01
const TOLD_SHARE = 0.0004

/** Rates of films, cameras and screens; one that is told nearly exactly becomes exact. */
const STANDARD_RATES: readonly FrameRate[] = [
  ...[24_000, 30_000, 48_000, 60_000, 120_000].map((frames) => ({ frames, seconds: 1001 })),
  ...[5, 6, 8, 10, 12, 15, 20, 24, 25, 30, 48, 50, 60, 100, 120].map(whole),
]
/** What a rate becomes that varies: it is known by its mean alone, and some frames come faster. */
const EVEN_RATES = [30, 50, 60] as const
const FILM_RATE_MIN = 23.9

/** Whether a probe does not tell the rate, so that frames have to be counted. */
export function isRateUnknown({ base, average }: ProbedRate): boolean {
  return !isOfCamera(base) && !isOfCamera(average)
}

/** The constant rate of renditions: the source's own, where it has one that players take. */
export function chooseFrameRate({ base, average, isInterlaced }: ProbedRate): FrameRate {
  const told = isOfCamera(base) ? base : null
  const mean = isOfCamera(average) ? average : told
  if (!mean) return USUAL
  const fields = told && isInterlaced ? [dividedBy(told, 2)] : []
  const steady = [told, ...fields].find((rate) => rate && isClose(rate, mean, COUNTED_SHARE))
  if (steady) return limit(snap(steady))
  const isFine = told && valueOf(told) > valueOf(mean) && valueOf(told) <= EVEN_RATES[0]
  return isFine ? limit(snap(told)) : evenRate(mean)
}

/** Frames a second. */
export function valueOf({ frames, seconds }: FrameRate): number {
  return frames / seconds
}

/** As ffmpeg's options and filters take it. */
export function rateText({ frames, seconds }: FrameRate): string {
  return `${frames}/${seconds}`
}

function isOfCamera(rate: FrameRate | null): rate is FrameRate {
  return rate !== null && valueOf(rate) <= CAMERA_RATE_MAX
}

function evenRate(mean: FrameRate): FrameRate {
  const film = snap(mean)
  if (film !== mean && valueOf(film) > FILM_RATE_MIN && valueOf(film) <= RATE_MAX) return film
  const least = valueOf(mean) * (1 - COUNTED_SHARE)
  return whole(EVEN_RATES.find((rate) => rate >= least) ?? RATE_MAX)
}

/** The standard rate that a rate nearly is; else itself. */
function snap(rate: FrameRate): FrameRate {
  return STANDARD_RATES.find((each) => isClose(each, rate, TOLD_SHARE)) ?? rate
}

/** Every second, third or fourth frame of what is too fast; each several times of what is too slow. */
function limit(rate: FrameRate): FrameRate {
  const value = valueOf(rate)
  if (value < RATE_MIN) {
    return snap({ ...rate, frames: rate.frames * Math.ceil(RATE_MIN / value) })
  }
  const divisor = Math.ceil(value / RATE_MAX - TOLD_SHARE)
  if (divisor <= 1) return rate
  return divisor <= DIVISOR_MAX ? dividedBy(rate, divisor) : whole(RATE_MAX)
}

function dividedBy({ frames, seconds }: FrameRate, divisor: number): FrameRate {
  return frames % divisor === 0
    ? { frames: frames / divisor, seconds }
    : { frames, seconds: seconds * divisor }
}

function isClose(one: FrameRate, other: FrameRate, share: number): boolean {
  return Math.abs(valueOf(one) / valueOf(other) - 1) <= share
}

function whole(frames: number): FrameRate {
  return { frames, seconds: 1 }
}
