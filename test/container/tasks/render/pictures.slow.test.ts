import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { detectFfmpegBuild, makeRotationArguments } from "../../../support/media/ffmpeg-builds.ts"
import {
  colourAt,
  FILM,
  frameTimes,
  QUICK,
  renderOne,
  startRenderHarness,
} from "./render-harness.ts"
import type { RenderHarness } from "./render-harness.ts"

/** Left half red, right half blue. */
const HALVES = "-f lavfi -i color=red:s=64x64:r=25:d=1,pad=128:64:0:0:blue"

let lab: RenderHarness

beforeAll(async () => {
  lab = await startRenderHarness()
})

afterAll(() => lab[Symbol.asyncDispose]())

describe("a rendition shows the picture", () => {
  test.for<[string, number, number, number]>([
    ["a quarter turn", 270, 32, 96],
    ["three quarters", 90, 32, 32],
  ])("after %s", async ([, rotate, x, y]) => {
    const plain = await lab.make("halves.mp4", `${HALVES} ${QUICK}`)
    const words = makeRotationArguments(detectFfmpegBuild("ffmpeg"), plain, rotate)
    const { path, video } = await renderOne(lab, `turned-${rotate}.mp4`, words)
    expect(video).toMatchObject({ width: 64, height: 128 })
    expect(video?.side_data_list).toBeUndefined()
    const turnedBack = await colourAt(path, { x, y })
    expect(turnedBack[0]).toBeGreaterThan(200)
    expect(turnedBack[2]).toBeLessThan(60)
  })

  test.for<[string, string, string]>([
    ["full range", "full.mp4", "-pix_fmt yuvj420p -color_range pc -c:v libx264"],
    ["RGB", "rgb.mkv", "-c:v libx264rgb"],
    ["4:4:4 of 10 bits", "deep.mkv", "-pix_fmt yuv444p10le -c:v libx264"],
    ["4:2:2 of 10 bits", "prores.mov", "-pix_fmt yuv422p10le -c:v prores_ks"],
    ["BT.709", "hd.mp4", "-vf scale=out_color_matrix=bt709 -colorspace bt709 -c:v libx264"],
    ["a palette", "moving.gif", ""],
  ])("in colours of %s", async ([, name, words]) => {
    const { path, video } = await renderOne(lab, name, `${HALVES} ${words}`)
    expect(video).toMatchObject({
      pix_fmt: "yuv420p",
      color_range: "tv",
      color_space: "bt709",
      color_primaries: expect.stringMatching(/^(?:bt709|bt470bg|smpte170m)$/),
      color_transfer: "bt709",
    })
    const [red, , blue] = await colourAt(path, { x: 16, y: 32 })
    expect(red).toBeGreaterThan(240)
    expect(blue).toBeLessThan(15)
    const right = await colourAt(path, { x: 110, y: 32 })
    expect(right[2]).toBeGreaterThan(240)
  })

  test("with HDR reduced to the range of a screen", async () => {
    const colours = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc"
    const words = `-pix_fmt yuv420p10le -c:v libx265 -x265-params log-level=none ${colours}`
    const { video } = await renderOne(lab, "hdr.mp4", `${FILM} ${words}`)
    expect(video).toMatchObject({
      pix_fmt: "yuv420p",
      color_space: "bt709",
      color_primaries: "bt709",
      color_transfer: "bt709",
    })
  })

  test("over black if it is transparent", async () => {
    const words = "-f lavfi -i color=white@0:s=64x64:r=25:d=1,format=rgba -c:v png"
    const { path } = await renderOne(lab, "clear.mov", words)
    expect(Math.max(...(await colourAt(path, { x: 32, y: 32 })))).toBeLessThan(15)
  })

  test.for<[string, string, number, number]>([
    ["odd sides", "testsrc2=s=193x109:r=25:d=0.4", 192, 108],
    ["pixels that are not square", "testsrc2=s=180x144:r=25:d=0.4,setsar=16/15", 192, 144],
    ["a portrait", "testsrc2=s=540x960:r=25:d=0.2", 480, 854],
    ["hardly a picture", "testsrc2=s=2x2:r=25:d=0.4", 2, 2],
  ])("with %s", async ([, source, width, height]) => {
    const { video } = await renderOne(lab, "odd.mkv", `-f lavfi -i ${source} -c:v ffv1`)
    expect(video).toMatchObject({ width, height, sample_aspect_ratio: "1:1" })
  })

  test("at the first size if the size changes", async () => {
    const one = await lab.make("one.ts", `${FILM} ${QUICK}`)
    const two = await lab.make(
      "two.ts",
      `-f lavfi -i testsrc2=s=96x54:r=25:d=1 ${QUICK} -output_ts_offset 1`,
    )
    const { path, video } = await renderOne(lab, "sizes.ts", `-i concat:${one}|${two} -c copy`)
    expect(video).toMatchObject({ width: 192, height: 108 })
    expect((await frameTimes(path)).length).toBeGreaterThanOrEqual(48)
  })
})
