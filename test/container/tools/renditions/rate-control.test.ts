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
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 1090 })).toBeNull()
})

test("a stream that is too large is asked for with less, in proportion", () => {
  expect(correctedKbps(TARGET, { askedKbps: 1000, measuredKbps: 1250 })).toBe(800)
})
