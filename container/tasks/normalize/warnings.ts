import type { Warning } from "../../../src/contract/warning.ts"
import type { LoudnessTarget } from "../../tools/loudness/gain.ts"
import type { Measured } from "../../tools/loudness/meter.ts"

/** A peak further below what is allowed is not what stood in the way of the target. */
const PEAK_ROOM_DB = 1

/** The warnings of streams that were left as they are, since there is nothing to measure in them. */
export function unmeasuredWarnings(before: readonly Measured[]): Warning[] {
  return before.flatMap((measured, order) => {
    if (measured.integratedLufs !== null) return []
    const label = labelOf(order, before.length)
    const { code, reason } = measured.isTooShort
      ? { code: "too_short" as const, reason: "is shorter than 0.4 seconds" }
      : { code: "silent" as const, reason: "is silent" }
    return [{ code, message: `${label} ${reason}, so that it was left as it is.` }]
  })
}

/** The warning of a stream that could not be brought to the target. */
export function missedWarning(
  after: Measured,
  target: LoudnessTarget,
  { order, count }: { order: number; count: number },
): Warning {
  const { integratedLufs, truePeakDbtp } = after
  const { true_peak_dbtp } = target
  const loudness = `${figure(integratedLufs)} LUFS rather than ${target.integrated_lufs}`
  const peak = `, and a true peak of ${figure(truePeakDbtp)} dBTP, where ${true_peak_dbtp} is allowed`
  const isAtPeak = truePeakDbtp !== null && truePeakDbtp > true_peak_dbtp - PEAK_ROOM_DB
  const message = `${labelOf(order, count)} could not be brought to the target: it has ${loudness}${isAtPeak ? peak : ""}.`
  return { code: "target_not_reached", message }
}

/** The warning of a file whose container or codec could not be kept. */
export function formatWarning(
  was: { container: string; codec: string },
  is: { container: string; codecs: readonly string[] },
): Warning {
  const message = `${was.codec} in ${was.container} cannot be written here, so that it became ${is.codecs[0] ?? ""} in ${is.container}.`
  return { code: "format_changed", message }
}

function labelOf(order: number, count: number): string {
  return count === 1 ? "The sound" : `Audio stream ${order + 1} of ${count}`
}

function figure(value: number | null): string {
  return value === null ? "none" : value.toFixed(1)
}
