import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { detectFfmpegBuild } from "../../support/media/ffmpeg-builds.ts"

const { ffmpeg } = findMediaTools()
const LACK = detectFfmpegBuild(ffmpeg).isOwn ? "" : ": another is used here"
const RATE = 48_000

/** Runs ffmpeg on a source and returns what it prints and writes to its stdout. */
async function run(line: string) {
  const argv = ["-nostdin", "-hide_banner", "-f", "lavfi", ...line.split(" ")]
  return await promisify(execFile)(ffmpeg, argv, { encoding: "buffer" })
}

describe.skipIf(LACK !== "")(`ffmpeg of the project's own${LACK}`, () => {
  test.for([90, 96, 97, 100, 104, 105, 108, 854])(
    "keeps every column of a picture of %i that becomes planar RGB",
    async (width) => {
      const filters = "format=yuv420p,scale,format=gbrp"
      const source = `-i color=white:s=${width}x2,${filters}`
      const { stdout } = await run(`${source} -v error -frames:v 1 -f rawvideo -`)
      expect(stdout).toEqual(Buffer.alloc(width * 2 * 3, 255))
    },
  )

  test.for([4.5, 4.57, 9.008])("levels %d seconds of sound without a gap", async (seconds) => {
    const filters = "loudnorm=I=-16:TP=-1.5:LRA=11,ashowinfo"
    const { stderr } = await run(`-i sine=r=${RATE}:d=${seconds} -af ${filters} -f null -`)
    const frames = Array.from(
      stderr.toString().matchAll(/ pts:(\d+) .* rate:(\d+) nb_samples:(\d+)/g),
      ([, pts, rate, samples]) => ({ pts: Number(pts), samples: Number(samples), rate }),
    )
    const starts = frames.map(({ pts }) => pts)
    const ends = frames.map(({ pts, samples }) => pts + samples)
    expect(starts.slice(1)).toEqual(ends.slice(0, -1))
    expect(frames.length).toBeGreaterThan(1)
  })
})
