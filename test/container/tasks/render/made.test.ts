import { expect, test } from "vitest"
import { toComparisonSource } from "../../../../container/tasks/render/render.ts"
import { readRenderSource } from "../../../../container/tasks/render/render-source.ts"

const STREAMS = [
  {
    index: 0,
    codec_type: "audio",
    codec_name: "mp2",
    sample_rate: "48000",
    start_time: "0.500000",
  },
  {
    index: 1,
    codec_type: "video",
    codec_name: "mpeg2video",
    width: 720,
    height: 576,
    start_time: "1.400000",
  },
  {
    index: 2,
    codec_type: "audio",
    codec_name: "mp2",
    sample_rate: "48000",
    start_time: "1.200000",
    disposition: { default: 1 },
  },
]

test.for([
  ["mpegts", 1.2],
  ["mpeg", 1.2],
  ["ogg", 1.2],
  ["matroska,webm", 0.5],
] as const)("renditions of %s start at the source timestamp %d", ([format, expected]) => {
  const probe = { format_name: format, format: { start_time: "0.500000" }, streams: STREAMS }
  const { video, ...source } = readRenderSource(probe, "source")
  if (!video) throw new Error("There is no picture.")
  expect(toComparisonSource({ ...source, video }).startSeconds).toBeCloseTo(expected, 6)
})
