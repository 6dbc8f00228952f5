import type { OutputReport } from "../../../src/contract/report.ts"
import type { Loudness, NormalizeResult } from "../../../src/contract/tasks/normalize.ts"
import { WARNINGS_MAX } from "../../../src/contract/warning.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import { containerName } from "../../tools/loudness/containers.ts"
import { findEncoder } from "../../tools/loudness/encoders.ts"
import { meetsTarget } from "../../tools/loudness/gain.ts"
import type { Gain, Tolerance } from "../../tools/loudness/gain.ts"
import type { Measured } from "../../tools/loudness/meter.ts"
import type { MadeFile } from "./make-file.ts"
import type { MeasuredFile } from "./normalize-sound.ts"
import { formatWarning, missedWarning, unmeasuredWarnings } from "./warnings.ts"

const EXACT: Tolerance = { loudnessLu: 0.3, peakDb: 0 }
const USUAL: Tolerance = { loudnessLu: 0.5, peakDb: 0.5 }

/** The result of a normalization, with what is odd about it. */
export function describeResult(
  file: MeasuredFile,
  made: MadeFile,
  stored: { output: OutputReport; warnings: readonly Warning[] },
): NormalizeResult {
  const missed = findMissed(file, made)
  const was = { container: containerName(file.source), codec: file.source.audio[0]?.codec ?? "" }
  const isKept =
    was.container === made.container &&
    file.source.audio.every(({ codec }, order) => codec === made.codecs[order])
  const warnings = [
    ...unmeasuredWarnings(file.before),
    ...(isKept ? [] : [formatWarning(was, made)]),
    ...missed,
    ...stored.warnings,
  ]
  const isMeasured = made.after.some(({ integratedLufs }) => integratedLufs !== null)
  return {
    kind: "normalize",
    outputs: [{ ...stored.output, name: made.name }],
    measurements: { before: describe(file.before[0]), after: describe(made.after[0]) },
    normalization_type: typeOf(made.gains),
    target_reached: isMeasured && missed.length === 0,
    format: { container: made.container, codec: made.codecs[0] ?? was.codec },
    converted_from: isKept ? null : was,
    warnings: warnings.slice(0, WARNINGS_MAX),
  }
}

/** A warning for each stream that is not as it was to be. */
function findMissed({ target }: MeasuredFile, { after, gains, codecs }: MadeFile): Warning[] {
  return after.flatMap((measured, order) => {
    const isLossless = findEncoder(codecs[order] ?? "")?.isLossless === true
    const isExact = isLossless && gains[order]?.type !== "dynamic"
    if (meetsTarget(measured, target, isExact ? EXACT : USUAL)) return []
    return [missedWarning(measured, target, { order, count: after.length })]
  })
}

function typeOf(gains: readonly Gain[]): Gain["type"] {
  const types = gains.map(({ type }) => type)
  return (
    types.find((type) => type === "dynamic") ?? types.find((type) => type === "linear") ?? "none"
  )
}

function describe(measured: Measured | undefined): Loudness {
  return {
    integrated_lufs: round(measured?.integratedLufs),
    range_lu: round(measured?.rangeLu),
    true_peak_dbtp: round(measured?.truePeakDbtp),
  }
}

function round(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value * 100) / 100
}
