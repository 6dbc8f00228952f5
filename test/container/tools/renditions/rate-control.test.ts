import { expect, test } from "vitest"
import { correctedKbps } from "../../../../container/tools/renditions/rate-control.ts"

const TARGET = {
  codec: "av1",
  container: "mp4",
  width: 640,
  height: 360,
  frameRate: { frames: 25, seconds: 1 },
  bitrateKbps: 1000,
} as const

test("a rate that was met needs no other try", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 1070 })).toBeNull()
})

test("a stream that is too large is asked for with less, in proportion", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 1250 })).toBe(800)
})

test("a stream that is below its rate is asked for with more, once", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 800 })).toBe(1250)
  expect(correctedKbps(TARGET, { askedKbps: 1250, measuredKbps: 800 })).toBeNull()
})

test("no other try is made of a picture that needs less than its rate", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 300 })).toBeNull()
  const target = { ...TARGET, codec: "h264" } as const
  expect(correctedKbps(target, { askedKbps: 1000, measuredKbps: 800 })).toBeNull()
})

test("no other try is made where the worst quality is far above the rate", () => {
  expect(correctedKbps(TARGET, { askedKbps: 200, measuredKbps: 2500 })).toBeNull()
})

test("no other try is made of a stream whose rate cannot be told", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: NaN })).toBeNull()
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: Infinity })).toBeNull()
})
