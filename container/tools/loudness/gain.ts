import type { StreamLoudness } from "./loudness-meter.ts"

/**
 * Loudness target of an audio stream: loudness in LUFS, maximum loudness range in LU and maximum
 * true peak in dBTP.
 */
export type LoudnessTarget = {
  integrated_lufs: number
  range_lu: number
  true_peak_dbtp: number
}

/**
 * Compression of the loudness range: the gain before the compressor in dB, and the ratio of the
 * compressor.
 */
export type RangeCompression = { levelDb: number; ratio: number }

/**
 * Change of an audio stream. `none`: no change. `linear`: a constant gain. `dynamic`: a gain with a
 * limiter and possibly a compressor.
 */
export type LoudnessGain =
  | { type: "none" }
  | { type: "linear"; gainDb: number }
  | { type: "dynamic"; gainDb: number; compression: RangeCompression | null; limitDb: number }

/**
 * Allowed deviation from a loudness target: of the loudness in LU, and of the true peak above its
 * maximum in dB.
 */
export type LoudnessTolerance = { loudnessLu: number; peakDb: number }

/** Smallest gain that is applied, in dB. A smaller gain is not audible. */
const GAIN_DB_MIN = 0.05
/**
 * Maximum rounding errors of the loudness meter, which prints a loudness range with one decimal
 * place and a peak amplitude with three.
 */
const RANGE_ERROR_LU = 0.05
const PEAK_ERROR_DB = 0.015
/** Amount, in dB, by which peaks may rise when limited audio is resampled to its original rate. */
const LIMIT_MARGIN_DB = 0.15
/**
 * Loudness, in LUFS, to which audio is set before the compressor. At this loudness, even a wide
 * loudness range lies above the compressor's threshold.
 */
const COMPRESSION_LEVEL_LUFS = -20
const RATIO_MAX = 20
/**
 * Factor by which the ratio of the compressor is increased, since the compressor reduces the
 * loudness range by less than its ratio.
 */
const RATIO_MARGIN = 1.1
/**
 * Largest amount, in LU, by which limited audio may be too quiet for another try with a higher gain
 * before the limiter. If more loudness is missing, the limiter would only distort the audio.
 */
const MISSING_LU_MAX = 3
/** Lowest peak level to which the limiter may limit audio, in dB. */
const LIMIT_DB_MIN = -24

/**
 * Returns the compression that an audio stream needs; null if its loudness range fits the target.
 */
export function planLoudnessRangeCompression(
  { integratedLufs, rangeLu }: StreamLoudness,
  { range_lu: targetLu }: LoudnessTarget,
): RangeCompression | null {
  if (integratedLufs === null || rangeLu === null || rangeLu <= targetLu + RANGE_ERROR_LU)
    return null
  const levelDb = COMPRESSION_LEVEL_LUFS - integratedLufs
  return { levelDb, ratio: Math.min(RATIO_MAX, (rangeLu / targetLu) * RATIO_MARGIN) }
}

/**
 * Returns a stronger compression if the loudness range is still too wide after a compression; else
 * null. `behind` is the loudness that was measured after the compression.
 */
export function strengthenLoudnessRangeCompression(
  compression: RangeCompression | null,
  behind: StreamLoudness | undefined,
  target: LoudnessTarget,
): RangeCompression | null {
  const more = compression && behind ? planLoudnessRangeCompression(behind, target) : null
  if (!compression || !more) return null
  return { ...compression, ratio: Math.min(RATIO_MAX, compression.ratio * more.ratio) }
}

/**
 * Plans the gain of an audio stream from its measured loudness. If there is a compression, the
 * loudness must have been measured after the compression.
 */
export function planLoudnessGain(
  { integratedLufs, truePeakDbtp }: StreamLoudness,
  target: LoudnessTarget,
  compression: RangeCompression | null,
): LoudnessGain {
  if (integratedLufs === null) return { type: "none" }
  const gainDb = target.integrated_lufs - integratedLufs
  const room = target.true_peak_dbtp - PEAK_ERROR_DB - (truePeakDbtp ?? -Infinity)
  const limitDb = target.true_peak_dbtp - LIMIT_MARGIN_DB
  if (compression || gainDb > room) return { type: "dynamic", gainDb, compression, limitDb }
  return Math.abs(gainDb) < GAIN_DB_MIN ? { type: "none" } : { type: "linear", gainDb }
}

/**
 * Returns a corrected gain for an audio stream whose loudness or peak missed the target. Returns
 * null if the target is met or another gain cannot come closer.
 */
export function computeCorrectedGain(
  gain: LoudnessGain,
  after: StreamLoudness,
  target: LoudnessTarget,
  { loudnessLu }: Pick<LoudnessTolerance, "loudnessLu">,
): LoudnessGain | null {
  if (gain.type === "none" || after.integratedLufs === null) return null
  const missingLu = target.integrated_lufs - after.integratedLufs
  const overDb = peakExcessDb(after, target)
  if (overDb <= PEAK_ERROR_DB && Math.abs(missingLu) <= loudnessLu) return null
  const isOutOfReach = gain.type === "dynamic" && missingLu > MISSING_LU_MAX
  if (isOutOfReach && overDb <= PEAK_ERROR_DB) return null
  const gainDb = gain.gainDb + (isOutOfReach ? 0 : missingLu)
  const isFree = overDb + Math.max(0, missingLu) <= 0
  if (gain.type === "linear" && isFree) return { type: "linear", gainDb }
  const limit = gain.type === "dynamic" ? gain.limitDb : target.true_peak_dbtp - LIMIT_MARGIN_DB
  const lowerDb = Math.max(0, overDb)
  return {
    type: "dynamic",
    gainDb,
    compression: gain.type === "dynamic" ? gain.compression : null,
    limitDb: Math.max(LIMIT_DB_MIN, lowerDb > 0 ? limit - lowerDb - PEAK_ERROR_DB : limit),
  }
}

/**
 * Reports whether an audio stream meets the loudness and peak of the target. Returns true for a
 * stream whose loudness could not be measured.
 */
export function meetsLoudnessTarget(
  after: StreamLoudness,
  target: LoudnessTarget,
  { loudnessLu, peakDb }: LoudnessTolerance,
): boolean {
  if (after.integratedLufs === null) return true
  const missingLu = Math.abs(target.integrated_lufs - after.integratedLufs)
  return missingLu <= loudnessLu && peakExcessDb(after, target) <= peakDb + PEAK_ERROR_DB
}

function peakExcessDb(
  { truePeakDbtp }: StreamLoudness,
  { true_peak_dbtp: peak }: LoudnessTarget,
): number {
  return (truePeakDbtp ?? -Infinity) - peak
}
