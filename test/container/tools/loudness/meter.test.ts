import { expect, test } from "vitest"
import { readMeasured } from "../../../../container/tools/loudness/meter.ts"

function figures(step: number, integrated: number, peak: number): string {
  return [
    `frame:${step}    pts:${step}   pts_time:${step / 10}`,
    "lavfi.r128.M=-24.500",
    `lavfi.r128.I=${integrated}`,
    "lavfi.r128.LRA=3.460",
    `lavfi.r128.true_peak=${peak}`,
    "",
  ].join("\n")
}

test("the figures of the last step are taken, exact to the thousandth", () => {
  const text = figures(8, -30, 0.1) + figures(9, -23.456, 0.5)
  expect(readMeasured({ I: -23.5, LRA: 3.5, Peak: -6 }, text)).toEqual({
    integratedLufs: -23.456,
    rangeLu: 3.46,
    truePeakDbtp: -6.021,
    isTooShort: false,
  })
})

test("the summary counts where it knows more than the last step, or has another scale", () => {
  const measured = readMeasured({ I: -23.5, LRA: 3.5, Peak: -2.1 }, figures(9, -23.456, 0.5))
  expect(measured.truePeakDbtp).toBe(-2.1)
})

test("what ends within the first block is too short, and what is below the gate is silent", () => {
  expect(readMeasured({ I: -70, Peak: -12 }, figures(2, -70, 0.25))).toEqual({
    integratedLufs: null,
    rangeLu: null,
    truePeakDbtp: -12.041,
    isTooShort: true,
  })
  const silent = readMeasured({ I: -70, LRA: 0, Peak: -Infinity }, figures(9, -70, 0))
  expect(silent).toMatchObject({ integratedLufs: null, truePeakDbtp: null, isTooShort: false })
})

test("a meter that said nothing measured nothing", () => {
  expect(readMeasured({}, "")).toMatchObject({ integratedLufs: null, isTooShort: true })
})
