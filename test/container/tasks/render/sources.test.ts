import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  colourAt,
  FILM,
  frameTimes,
  probe,
  QUICK,
  renderOne,
  SMALL,
  startRenderHarness,
} from "./render-harness.ts"
import type { RenderHarness } from "./render-harness.ts"

const SOUND = "-f lavfi -i sine=d=1"
const KEY = "-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb"

let lab: RenderHarness

beforeAll(async () => {
  lab = await startRenderHarness()
})

afterAll(() => lab[Symbol.asyncDispose]())

describe("a rendition keeps the times", () => {
  test("of a variable frame rate, at a constant rate", async () => {
    const select = String.raw`-vf select='lt(mod(n\,10)\,3)' -fps_mode vfr`
    const words = `-f lavfi -i testsrc2=s=96x54:r=25:d=4 ${select} ${QUICK}`
    const { path, probed } = await renderOne(lab, "varying.mp4", words)
    const times = await frameTimes(path)
    expect(times.every(({ seconds }, at) => Math.abs(seconds - at / 25) < 0.001)).toBe(true)
    expect(Number(probed.format.duration)).toBeCloseTo(3.7, 0)
  })

  test.for<[string, string]>([
    ["a picture with a later start", "-itsoffset 0.6 -i still.mp4 -i tone.m4a"],
    ["audio with a later start", "-i still.mp4 -itsoffset 0.6 -i tone.m4a"],
  ])("of %s", async ([, inputs]) => {
    await lab.make("still.mp4", `${FILM} ${QUICK}`)
    await lab.make("tone.m4a", SOUND)
    const { probed } = await renderOne(lab, "offset.mkv", `${inputs} -map 0:v -map 1:a -c copy`)
    const [video, audio] = probed.streams
    expect(Number(video?.start_time)).toBe(0)
    expect(Number(audio?.start_time)).toBeLessThan(0.05)
    const isLateVideo = inputs.startsWith("-itsoffset")
    expect(Number(video?.duration)).toBeCloseTo(isLateVideo ? 1.6 : 1, 1)
    expect(Number(audio?.duration)).toBeCloseTo(isLateVideo ? 1 : 1.6, 1)
  })

  test("of a recording with a clock rate", async () => {
    const words = `${FILM} -c:v libvpx -deadline realtime -cpu-used 8 -f webm -live 1`
    const { video } = await renderOne(lab, "browser.webm", words)
    expect(video?.r_frame_rate).toMatch(/^(?:25|30)\/1$/)
  })

  test("of a single picture", async () => {
    const { video } = await renderOne(lab, "still.png", `${FILM} -frames:v 1`)
    expect(video).toMatchObject({ width: 192, height: 108 })
  })
})

test.for<[string, string]>([
  ["more channels than any layout has", "0.1|".repeat(12).slice(0, -1)],
  ["channels of an unusual layout", "0.1|0.1:c=SL+SR"],
])("audio is mixed from %s", async ([, tracks]) => {
  const words = `${FILM} -f lavfi -i aevalsrc=${tracks}:d=1 ${QUICK} -c:a pcm_s16le`
  const { probed } = await renderOne(lab, "tracks.mov", words)
  expect(probed.streams[1]).toMatchObject({ codec_name: "aac", channels: 2 })
})

test("a picture below an encoder's minimum is centred in a larger frame", async () => {
  const path = await lab.make("line.mkv", "-f lavfi -i color=red:s=640x4:r=5:d=1 -c:v ffv1")
  const { paths } = await lab.render(path, [SMALL, { ...SMALL, codec: "h265" }])
  const [line = "", frame = ""] = paths
  expect((await probe(line)).streams[0]).toMatchObject({ width: 640, height: 4 })
  expect((await probe(frame)).streams[0]).toMatchObject({ width: 640, height: 16 })
  const [[red], [above]] = await Promise.all([
    colourAt(frame, { x: 100, y: 7 }),
    colourAt(frame, { x: 100, y: 1 }),
  ])
  expect(red).toBeGreaterThan(200)
  expect(above).toBeLessThan(40)
})

describe("a render task fails for a source", () => {
  test.for<[string, string, string]>([
    ["with only sound", "tone.m4a", SOUND],
    [
      "with only a cover",
      "cover.mp3",
      `${SOUND} ${FILM} -map 0 -map 1 -frames:v 1 -c:v mjpeg -disposition:v attached_pic`,
    ],
  ])("%s", async ([, name, words]) => {
    const last = await lab.report(await lab.make(name, words))
    expect(last).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "no_video", message: expect.stringContaining("no video stream") },
    })
  })

  test("of plain text", async () => {
    const path = join(lab.folder, "text.mp4")
    await writeFile(path, "no media")
    const last = await lab.report(path)
    expect(last).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "invalid_input" },
    })
  })

  test("with encryption", async () => {
    const path = await lab.make(
      "locked.mp4",
      `${FILM} ${QUICK} ${KEY} -encryption_kid ${"0".repeat(32)}`,
    )
    const last = await lab.report(path)
    expect(last).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "drm_protected" },
    })
  })

  test("beyond its time limit", async () => {
    const path = await lab.make("long.mp4", `-f lavfi -i testsrc2=s=640x360:r=25:d=20 ${QUICK}`)
    const last = await lab.report(path, [{ ...SMALL, codec: "h265" }], { run_seconds_max: 1 })
    const message = expect.stringContaining("a transcode may run for 1 seconds")
    expect(last).toMatchObject({
      kind: "failed",
      blame: "caller",
      failure: { code: "time_limit", message },
    })
  })
})
