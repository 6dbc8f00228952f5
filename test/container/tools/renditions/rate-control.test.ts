import { expect, test } from "vitest"
import { computeCorrectedBitrate } from "../../../../container/tasks/render/encode-renditions.ts"

const TARGET = {
  codec: "av1",
  container: "mp4",
  width: 640,
  height: 360,
  frameRate: { frames: 25, seconds: 1 },
  bitrateKbps: 1000,
} as const

test("a met bitrate needs no other try", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: 1070 })).toBeNull()
})

test("a stream above its bitrate is encoded again with less, in proportion", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: 1250 })).toBe(800)
})

test("a stream below its bitrate is encoded again with more, once", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: 800 })).toBe(1250)
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1250, measuredKbps: 800 })).toBeNull()
})

test("a picture that needs less than its bitrate gets no other try", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: 300 })).toBeNull()
  const target = { ...TARGET, codec: "h264" } as const
  expect(computeCorrectedBitrate(target, { encoderKbps: 1000, measuredKbps: 800 })).toBeNull()
})

test("an encoder at its worst quality gets no other try", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 200, measuredKbps: 2500 })).toBeNull()
})

test("a stream with an unknown bitrate gets no other try", () => {
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: NaN })).toBeNull()
  expect(computeCorrectedBitrate(TARGET, { encoderKbps: 1000, measuredKbps: Infinity })).toBeNull()
})
