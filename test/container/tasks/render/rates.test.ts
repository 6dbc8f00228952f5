import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { selectCases } from "../../../support/wide.ts"
import { SMALL, startRenderHarness } from "./render-harness.ts"
import type { RenditionRequest, RenderHarness } from "./render-harness.ts"

const SECONDS = 6
/** Shots that are easy and hard to encode, with grain. */
const FILM =
  "-f lavfi -i testsrc2=s=320x180:r=25:d=2 -f lavfi -i mandelbrot=s=320x180:r=25 " +
  "-f lavfi -i smptebars=s=320x180:r=25:d=2 -filter_complex " +
  "[1:v]trim=duration=2[b];[0:v][b][2:v]concat=n=3,noise=alls=6:allf=t,format=yuv420p"
const ENCODED = "-c:v libx264 -preset ultrafast -crf 12"

let lab: RenderHarness
let path: string

beforeAll(async () => {
  lab = await startRenderHarness()
  path = await lab.make("film.mkv", `${FILM} ${ENCODED}`)
})

afterAll(() => lab[Symbol.asyncDispose]())

test.each(
  selectCases<readonly [RenditionRequest["codec"], number]>(
    [["h264", 200]],
    [
      ["h264", 600],
      ["h265", 200],
      ["h265", 600],
      ["vp9", 200],
      ["vp9", 600],
      ["av1", 200],
      ["av1", 600],
    ],
  ),
)("a rendition in %s at %i kbit/s has a mean bitrate within 10 %", async (codec, kbps) => {
  const { paths } = await lab.render(path, [{ ...SMALL, codec, bitrate_kbps: kbps }])
  const [made = ""] = paths
  const rate = ((await pictureBytes(made)) * 8) / 1000 / SECONDS
  expect(Math.abs(rate / kbps - 1)).toBeLessThanOrEqual(0.1)
})

/** Returns the size of the video packets in bytes. */
async function pictureBytes(path: string): Promise<number> {
  const words = "-v error -select_streams v:0 -show_entries packet=size -of csv=p=0".split(" ")
  const { stdout } = await promisify(execFile)("ffprobe", [...words, path])
  return stdout.split("\n").reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0)
}
