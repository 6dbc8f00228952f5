import { describe, expect, test } from "vitest"
import {
  correctGain,
  planCompression,
  planGain,
} from "../../../../container/tools/loudness/gain.ts"

const TARGET = { integrated_lufs: -23, range_lu: 20, true_peak_dbtp: -1 }
const TOLERANCE = { loudnessLu: 0.2 }

function measured(integratedLufs: number | null, truePeakDbtp: number, rangeLu = 5) {
  return { integratedLufs, truePeakDbtp, rangeLu, isTooShort: false }
}

describe("a plan", () => {
  test("is one gain where range and peak allow it", () => {
    expect(planGain(measured(-30, -10), TARGET, null)).toEqual({ type: "linear", gainDb: 7 })
  })

  test("limits where the peak would be above the target, and a little below it", () => {
    const gain = planGain(measured(-30, -5), TARGET, null)
    expect(gain).toMatchObject({ type: "dynamic", gainDb: 7, compression: null })
    expect(gain.type === "dynamic" && gain.limitDb).toBeLessThan(-1)
  })

  test("is nothing for silence, and for what has the loudness", () => {
    expect(planGain(measured(null, -80), TARGET, null)).toEqual({ type: "none" })
    expect(planGain(measured(-23.02, -5), TARGET, null)).toEqual({ type: "none" })
  })

  test("compresses a range that is too wide, and no other", () => {
    expect(planCompression(measured(-30, -5, 20), TARGET)).toBeNull()
    expect(planCompression(measured(-30, -5, 30), TARGET)).toMatchObject({ levelDb: 10 })
  })
})

describe("a correction", () => {
  const linear = { type: "linear", gainDb: 7 } as const
  const limited = { type: "dynamic", gainDb: 7, compression: null, limitDb: -1.15 } as const

  test("is none within the tolerance", () => {
    expect(correctGain(linear, measured(-23.1, -3), TARGET, TOLERANCE)).toBeNull()
  })

  test("adds what is missing", () => {
    const gain = correctGain(linear, measured(-23.5, -3), TARGET, TOLERANCE)
    expect(gain).toEqual({ type: "linear", gainDb: 7.5 })
  })

  test("limits what a codec brought above the peak", () => {
    const gain = correctGain(linear, measured(-23, -0.6), TARGET, TOLERANCE)
    expect(gain).toMatchObject({ type: "dynamic" })
    expect(gain?.type === "dynamic" && gain.limitDb).toBeLessThan(-1.5)
  })

  test("gives up where more gain would only distort", () => {
    expect(correctGain(limited, measured(-28, -1.1), TARGET, TOLERANCE)).toBeNull()
  })
})
