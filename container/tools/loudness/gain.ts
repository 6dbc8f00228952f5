import type { Measured } from "./meter.ts"

/** What a stream is to become: LUFS, LU and dBTP. */
export type LoudnessTarget = {
  integrated_lufs: number
  range_lu: number
  true_peak_dbtp: number
}

/** A compression of the range: the sound is brought to a level first, at which its ratio holds. */
export type Compression = { levelDb: number; ratio: number }

/** What is done to a stream: nothing, one gain, or a gain with what follows the sound. */
export type Gain =
  | { type: "none" }
  | { type: "linear"; gainDb: number }
  | { type: "dynamic"; gainDb: number; compression: Compression | null; limitDb: number }

/** How far a stream may be from the target, in LU and in dB above the peak. */
export type Tolerance = { loudnessLu: number; peakDb: number }

/** Below this a gain changes nothing that can be heard. */
const GAIN_DB_MIN = 0.05
/** The meter has one decimal of a range, and three of an amplitude. */
const RANGE_ERROR_LU = 0.05
const PEAK_ERROR_DB = 0.015
/** Peaks rise a little where the sound is brought back from the limiter's rate to its own. */
const LIMIT_MARGIN_DB = 0.15
/** The level at which sound is compressed, so that all of a wide range is above the threshold. */
const COMPRESSION_LEVEL_LUFS = -20
const RATIO_MAX = 20
/** A range shrinks a little less than a ratio says. */
const RATIO_MARGIN = 1.1
/** What the limiter takes away beyond this, more gain would only distort. */
const MISSING_LU_MAX = 3
/** The least limit of the limiter. */
const LIMIT_DB_MIN = -24

/** The compression that a measured stream needs; null where its range is not too wide. */
export function planCompression(
  { integratedLufs, rangeLu }: Measured,
  { range_lu: targetLu }: LoudnessTarget,
): Compression | null {
  if (integratedLufs === null || rangeLu === null || rangeLu <= targetLu + RANGE_ERROR_LU)
    return null
  const levelDb = COMPRESSION_LEVEL_LUFS - integratedLufs
  return { levelDb, ratio: Math.min(RATIO_MAX, (rangeLu / targetLu) * RATIO_MARGIN) }
}

/** The compression for a stream whose range is still too wide behind one; null where it is not. */
export function strengthenCompression(
  compression: Compression | null,
  behind: Measured | undefined,
  target: LoudnessTarget,
): Compression | null {
  const more = compression && behind ? planCompression(behind, target) : null
  if (!compression || !more) return null
  return { ...compression, ratio: Math.min(RATIO_MAX, compression.ratio * more.ratio) }
}

/** What a stream needs that was measured, behind its compression where it has one. */
export function planGain(
  { integratedLufs, truePeakDbtp }: Measured,
  target: LoudnessTarget,
  compression: Compression | null,
): Gain {
  if (integratedLufs === null) return { type: "none" }
  const gainDb = target.integrated_lufs - integratedLufs
  const room = target.true_peak_dbtp - PEAK_ERROR_DB - (truePeakDbtp ?? -Infinity)
  const limitDb = target.true_peak_dbtp - LIMIT_MARGIN_DB
  if (compression || gainDb > room) return { type: "dynamic", gainDb, compression, limitDb }
  return Math.abs(gainDb) < GAIN_DB_MIN ? { type: "none" } : { type: "linear", gainDb }
}

/** The gain that a stream needs in the place of one that missed the target; null where it met it. */
export function correctGain(
  gain: Gain,
  after: Measured,
  target: LoudnessTarget,
  { loudnessLu }: Pick<Tolerance, "loudnessLu">,
): Gain | null {
  if (gain.type === "none" || after.integratedLufs === null) return null
  const missingLu = target.integrated_lufs - after.integratedLufs
  const overDb = excessOf(after, target)
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

/** Whether a stream that could be measured has the loudness and the peak of the target. */
export function meetsTarget(
  after: Measured,
  target: LoudnessTarget,
  { loudnessLu, peakDb }: Tolerance,
): boolean {
  if (after.integratedLufs === null) return true
  const missingLu = Math.abs(target.integrated_lufs - after.integratedLufs)
  return missingLu <= loudnessLu && excessOf(after, target) <= peakDb + PEAK_ERROR_DB
}

function excessOf({ truePeakDbtp }: Measured, { true_peak_dbtp: peak }: LoudnessTarget): number {
  return (truePeakDbtp ?? -Infinity) - peak
}
