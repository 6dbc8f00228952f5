import { execFile, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createFfmpegProgressReader } from "../../../../../container/tools/ffmpeg/ffmpeg-progress.ts"
import type { FfmpegProgress } from "../../../../../container/tools/ffmpeg/ffmpeg-progress.ts"
import { makeTestRunnerSettings } from "../../../../support/runner/runner-settings.ts"

const run = promisify(execFile)
const tool = makeTestRunnerSettings().toolPaths.ffmpeg

/** Durations of the input files in seconds, as their probes report them. */
const KNOWN = new Map([
  ["a.mp4", 6],
  ["b.mp4", 3],
])

let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-length-"))
  for (const [name, seconds] of KNOWN) {
    const sources = `-f lavfi -i testsrc2=s=64x36:r=20:d=${seconds} -f lavfi -i sine=d=${seconds}`
    const command = `-v error ${sources} -g 20 -c:v mpeg4 ${name}`
    await run(tool, command.split(" "), { cwd: folder })
  }
  await run(tool, "-v error -i a.mp4 -frames:v 1 still.png".split(" "), { cwd: folder })
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

/** Runs a command at four times the speed of its inputs; returns its progress reports. */
async function follow(command: string, known: ReadonlyMap<string, number>) {
  const argv = command.split(" ")
  const slowed = argv.flatMap((word) => (word === "-i" ? ["-readrate", "4", "-i"] : [word]))
  const reader = createFfmpegProgressReader(argv, known)
  const leading = "-y -nostdin -hide_banner -progress pipe:1 -stats_period 0.05".split(" ")
  const child = spawn(tool, [...leading, ...slowed], { cwd: folder })
  const reports: FfmpegProgress[] = []
  createInterface(child.stderr).on("line", (line) => reader.readStderr(line))
  createInterface(child.stdout).on("line", (line) => {
    const progress = reader.readProgress(line)
    if (progress) reports.push(progress)
  })
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on("close", resolve)
  expect(await promise).toBe(0)
  return reports
}

/** Returns the report closest to half of the output. */
function atHalf(told: readonly FfmpegProgress[]) {
  const whole = Math.max(...told.map(({ detail }) => detail.time_seconds ?? 0))
  const shares = told
    .slice(0, -1)
    .map(({ fraction, detail }) => ({ fraction, share: (detail.time_seconds ?? 0) / whole }))
  const [nearest] = shares.toSorted(
    (one, other) => Math.abs(one.share - 0.5) - Math.abs(other.share - 0.5),
  )
  return nearest
}

describe("a real command reports half of its work at half of its output", () => {
  test.concurrent.for([
    ["as it is", "-i a.mp4 -c:v mpeg4 1.mp4"],
    ["-stream_loop", "-stream_loop 2 -i b.mp4 -c:v mpeg4 2.mp4"],
    ["-t of an endless input", "-stream_loop -1 -i b.mp4 -t 5 -c:v mpeg4 3.mp4"],
    ["-ss and -to", "-ss 1 -i a.mp4 -to 4 -c:v mpeg4 4.mp4"],
    ["lavfi", "-f lavfi -i testsrc2=s=64x36:r=20:d=4 -c:v mpeg4 13.mp4"],
    [
      "sound beside a looped picture",
      "-loop 1 -i still.png -i b.mp4 -map 0:v -map 1:a -shortest -c:v mpeg4 15.mp4",
    ],
    ["a count of frames", "-f lavfi -i testsrc2=s=64x36:r=20 -frames:v 60 -c:v mpeg4 16.mp4"],
  ] as const)("%s", async ([, command]) => {
    const half = atHalf(await follow(command, KNOWN))
    expect(half?.fraction).not.toBeNull()
    expect(Math.abs((half?.fraction ?? 0) - (half?.share ?? 0))).toBeLessThan(0.1)
    expect(half?.share).toBeGreaterThan(0.3)
    expect(half?.share).toBeLessThan(0.7)
  })

  test("reports frames, time, speed and size if its end is unknown", async () => {
    const told = await follow("-i a.mp4 -vf setpts=PTS+random(0) -c:v mpeg4 17.mkv", new Map())
    const going = told.slice(0, -1)
    expect(going.every(({ fraction }) => fraction === null)).toBe(true)
    const frames = going.map(({ detail }) => detail.frame ?? 0)
    expect(new Set(frames).size).toBeGreaterThan(3)
    expect(told.at(-1)?.detail).toMatchObject({
      frame: expect.any(Number),
      time_seconds: expect.any(Number),
      speed: expect.any(Number),
      size_bytes: expect.any(Number),
    })
  })
})
