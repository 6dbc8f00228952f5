import { expect, test } from "vitest"
import {
  chooseFrameRate,
  isFrameRateUnknown,
  formatFrameRate,
} from "../../../../container/tasks/render/frame-rate.ts"
import type { FrameRate } from "../../../../container/tools/renditions/video-encoder-arguments.ts"

function rate(text: string): FrameRate | null {
  const [frames = 0, seconds = 1] = text.split("/").map(Number)
  return frames > 0 ? { frames, seconds } : null
}

test.for<[string, string, string, string]>([
  ["a film", "24000/1001", "24000/1001", "24000/1001"],
  ["a camera", "30/1", "30/1", "30/1"],
  ["a rate in milliseconds", "1000000/33333", "1000000/33333", "30/1"],
  ["an odd rate that is steady", "37/2", "37/2", "37/2"],
  ["a phone that varies a little", "30/1", "7480/250", "30/1"],
  ["a rate that varies below a fine one", "25/1", "250/31", "25/1"],
  ["a rate that varies below a fast one", "60/1", "17/1", "30/1"],
  ["a rate that varies about 40", "120/1", "40/1", "50/1"],
  ["a telecined film", "60000/1001", "24000/1001", "24000/1001"],
  ["twice 60", "120/1", "120/1", "60/1"],
  ["twice 59.94", "120000/1001", "120000/1001", "60000/1001"],
  ["90", "90/1", "90/1", "45/1"],
  ["a fast camera", "240/1", "240/1", "60/1"],
  ["a very fast camera", "400/1", "400/1", "60/1"],
  ["the clock of a browser", "1000/1", "1000/1", "25/1"],
  ["a clock, with a rate that was counted", "1000/1", "28/1", "30/1"],
  ["a clock of 90 kHz", "90000/1", "2997/100", "30000/1001"],
  ["a slide each five seconds", "1/5", "1/5", "5/1"],
  ["three frames a second", "3/1", "3/1", "6/1"],
  ["nothing", "0/0", "0/0", "25/1"],
  ["an average alone", "0/0", "30000/1001", "30000/1001"],
])("%s of %s, on average %s, becomes %s", ([, base, average, chosen]) => {
  const probed = { base: rate(base), average: rate(average), isInterlaced: false }
  expect(formatFrameRate(chooseFrameRate(probed))).toBe(chosen)
})

test("a rate of fields is not taken for one of frames", () => {
  const probed = { base: rate("50/1"), average: rate("25/1"), isInterlaced: true }
  expect(formatFrameRate(chooseFrameRate(probed))).toBe("25/1")
  const ntsc = { base: rate("60000/1001"), average: rate("30000/1001"), isInterlaced: true }
  expect(formatFrameRate(chooseFrameRate(ntsc))).toBe("30000/1001")
})

test("frames are counted only for a clock rate or an unknown rate", () => {
  expect(isFrameRateUnknown({ base: rate("1000/1"), average: null, isInterlaced: false })).toBe(
    true,
  )
  expect(isFrameRateUnknown({ base: null, average: null, isInterlaced: false })).toBe(true)
  expect(
    isFrameRateUnknown({ base: rate("1000/1"), average: rate("30/1"), isInterlaced: false }),
  ).toBe(false)
  expect(isFrameRateUnknown({ base: rate("30/1"), average: null, isInterlaced: false })).toBe(false)
})
