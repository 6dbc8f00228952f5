import { afterAll, beforeAll, expect, test } from "vitest"
import { decodeWhole, frameTimes, probe, SMALL, startRenderHarness } from "./render-harness.ts"
import type { RenderHarness } from "./render-harness.ts"

const FILM = "-f lavfi -i testsrc2=s=192x108:r=24000/1001:d=4.2 -f lavfi -i sine=d=4.2"

let lab: RenderHarness

beforeAll(async () => {
  lab = await startRenderHarness()
})

afterAll(() => lab[Symbol.asyncDispose]())

test("renditions of one source have its frame rate, its audio and keyframes at the same times", async () => {
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

test("a rendition that would be the same as an earlier one is encoded and stored once", async () => {
  const path = await lab.make("small.mp4", "-f lavfi -i testsrc2=s=640x360:r=5:d=1 -c:v libx264")
  const sizes = ["240p", "360p", "480p", "4k"] as const
  const { result, paths } = await lab.render(path, [
    ...sizes.map((resolution) => ({ ...SMALL, resolution })),
    { ...SMALL, resolution: "240p" },
  ])
  expect(result.outputs.map(({ key }) => key)).toEqual(["out_1", "out_2"])
  expect(result.same).toEqual([
    { key: "out_3", same_as: "out_2" },
    { key: "out_4", same_as: "out_2" },
    { key: "out_5", same_as: "out_1" },
  ])
  expect(result.warnings?.map(({ code }) => code)).toEqual(["same_rendition", "same_rendition"])
  expect([...lab.harness.io.outputs.keys()].toSorted()).toEqual(["out_1", "out_2"])
  const [small, large] = await Promise.all(paths.map(probe))
  expect([small?.streams[0]?.height, large?.streams[0]?.height]).toEqual([240, 360])
})

test("renditions of 1440p have the size and a level for it", async () => {
  const path = await lab.make(
    "large.mp4",
    "-f lavfi -i testsrc2=s=2592x1458:r=5:d=0.4 -c:v libx264",
  )
  const { paths } = await lab.render(path, [{ ...SMALL, resolution: "1440p" }])
  const [made = ""] = paths
  await decodeWhole(made)
  const [video] = (await probe(made)).streams
  expect(video).toMatchObject({ width: 2560, height: 1440, codec_name: "h264", level: 50 })
})
