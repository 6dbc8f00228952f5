import { expect, test } from "vitest"
import { groupRenditionsByEncodeLimits } from "../../../../container/tasks/render/encode-renditions.ts"
import type { EncodeLimits } from "../../../../container/tasks/render/encode-renditions.ts"
import type { RenditionCodec } from "../../../../src/contract/tasks/render.ts"

const GIB = 1024 ** 3
const SOURCE = { width: 1920, height: 1080 }

function rendition(codec: RenditionCodec, width = 1920, height = 1080) {
  const frameRate = { frames: 30, seconds: 1 }
  return {
    target: { codec, container: "mp4" as const, width, height, frameRate, bitrateKbps: null },
  }
}

function sizesOf(codecs: RenditionCodec[], memoryBytes: number, width = 1920, height = 1080) {
  return sizesWithin(codecs, { memoryBytes, threads: 512 }, width, height)
}

function sizesWithin(
  codecs: RenditionCodec[],
  limits: EncodeLimits,
  width: number,
  height: number,
) {
  const renditions = codecs.map((codec) => rendition(codec, width, height))
  const groups = groupRenditionsByEncodeLimits(renditions, SOURCE, limits)
  expect(new Set(groups.flat())).toEqual(new Set(renditions))
  return groups.map(({ length }) => length)
}

test("renditions within the memory of a process share one decode", () => {
  expect(sizesOf(["h264", "h264", "h264"], 16 * GIB)).toEqual([3])
  expect(sizesOf(["h264", "h265", "vp9", "av1"], 16 * GIB)).toEqual([4])
})

test("renditions beyond the memory are divided, at least one a process", () => {
  expect(sizesOf(["av1", "av1"], 4 * GIB)).toEqual([1, 1])
  expect(sizesOf(["av1", "av1", "av1"], 16 * GIB, 3840, 2160)).toEqual([2, 1])
  expect(sizesOf(["h265", "h265"], 1 * GIB)).toEqual([1, 1])
})

test("encoders of a process stay within its thread limit", () => {
  const threads = 512
  const many = Array.from({ length: 8 }, () => "av1" as const)
  expect(sizesWithin(many, { memoryBytes: 64 * GIB, threads }, 320, 180)).toEqual([3, 3, 2])
  expect(sizesWithin(many, { memoryBytes: 64 * GIB, threads: 64 }, 320, 180)).toEqual(
    many.map(() => 1),
  )
})

test("a process has at most 8 outputs", () => {
  const many = Array.from({ length: 32 }, () => "h264" as const)
  const groups = sizesOf(many, 64 * GIB, 320, 180)
  expect(Math.max(...groups)).toBe(8)
})
