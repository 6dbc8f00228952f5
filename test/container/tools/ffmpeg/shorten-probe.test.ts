import { expect, it } from "vitest"
import { shortenProbeResult } from "../../../../container/tools/ffmpeg/shorten-probe.ts"

const BYTES_MAX = 50_000

const top = { width: 640, height: 360, duration: 1.5, format_name: "matroska,webm" }
const stream = { codec_name: "h264", tags: { title: "a" } }

function fit(streams: Record<string, unknown>[], format: Record<string, unknown>) {
  const fitted = shortenProbeResult({ ...top, streams, format }, BYTES_MAX)
  expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThanOrEqual(BYTES_MAX)
  expect(fitted).toMatchObject(top)
  return fitted
}

it("a small probe stays unchanged", () => {
  const format = { tags: { comment: "x".repeat(40_000) } }
  expect(fit([stream], format)).toEqual({ ...top, streams: [stream], format })
})

it("a large probe has its long texts cut", () => {
  const fitted = fit([stream], { size: "3", tags: { comment: "ä".repeat(40_000) } })
  const format = { size: "3", tags: { comment: "ä".repeat(1000) } }
  expect(fitted).toEqual({ ...top, streams: [stream], format })
})

it("a probe with too many tags loses them, and one with too many streams keeps the first 50", () => {
  const tags = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`t${index}`, "x"]))
  expect(fit([stream], { size: "3", tags })).toEqual({
    ...top,
    streams: [{ codec_name: "h264" }],
    format: { size: "3" },
  })
  const streams = Array.from({ length: 9000 }, (_, index) => ({ ...stream, index }))
  expect(fit(streams, {}).streams).toHaveLength(50)
})

it("a probe that is still too large keeps its top level", () => {
  const wide = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`f${index}`, "x"]))
  expect(fit([wide], wide)).toEqual({ ...top, streams: [], format: {} })
})
