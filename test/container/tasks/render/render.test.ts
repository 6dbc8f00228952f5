import { afterAll, beforeAll, expect, test } from "vitest"
import { decodeWhole, frameTimes, probe, SMALL, startRenderHarness } from "./render-harness.ts"
import type { RenderHarness } from "./render-harness.ts"

const FILM = "-f lavfi -i testsrc2=s=192x108:r=24000/1001:d=4.2 -f lavfi -i sine=d=4.2"

let lab: RenderHarness

beforeAll(async () => {
  lab = await startRenderHarness()
})

afterAll(() => lab[Symbol.asyncDispose]())

test("renditions of one source have its rate, its sound and keyframes at the same times", async () => {
  const path = await lab.make(
    "film.mkv",
    `${FILM} -c:v libx264 -preset ultrafast -c:a aac -metadata:s:a:0 language=fra -metadata title=x`,
  )
  const { result, paths } = await lab.render(path, [
    SMALL,
    { ...SMALL, codec: "vp9", container: "webm", bitrate_kbps: 300 },
    { ...SMALL, codec: "h265", container: "mov", bitrate_kbps: 300 },
    { ...SMALL, codec: "av1" },
  ])
  expect(result.warnings).toEqual([])
  expect(result.outputs.map(({ key }) => key)).toEqual(["out_1", "out_2", "out_3", "out_4"])
  for (const made of paths) {
    await decodeWhole(made)
    const { streams, format, chapters } = await probe(made)
    expect(streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio"])
    expect(streams[0]).toMatchObject({
      width: 192,
      height: 108,
      pix_fmt: "yuv420p",
      sample_aspect_ratio: "1:1",
      r_frame_rate: "24000/1001",
    })
    expect(Number(format.duration)).toBeCloseTo(4.2, 0)
    expect(streams[1]?.tags["language"]).toBe("fra")
    expect(format.tags["title"]).toBeUndefined()
    expect(chapters).toEqual([])
    const keys = (await frameTimes(made)).filter(({ isKey }) => isKey)
    expect(keys.map(({ seconds }) => seconds.toFixed(3))).toEqual(["0.000", "2.002", "4.004"])
  }
})
