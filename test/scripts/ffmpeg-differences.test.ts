import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import {
  findFfmpegDifferences,
  parseComponentNames,
  formatFfmpegDifferences,
} from "../../scripts/ffmpeg/differences.ts"

test("names are parsed from the lists of ffmpeg 5 and 7 alike", () => {
  expect(
    parseComponentNames(
      "demuxers",
      " D. = Demuxing supported\n --\n D  dash   DASH\n DE aac,m4a AAC\n",
    ),
  ).toEqual(["aac", "dash", "m4a"])
  expect(
    parseComponentNames(
      "demuxers",
      " D.. = Demuxing supported\n ---\n D   dash  DASH\n D d alsa ALSA\n",
    ),
  ).toEqual(["alsa", "dash"])
  expect(
    parseComponentNames(
      "muxers",
      " .E = Muxing supported\n  E mp4  MP4\n DE aac AAC\n D  dash DASH\n",
    ),
  ).toEqual(["aac", "mp4"])
  expect(
    parseComponentNames(
      "filters",
      "  T.. = Timeline support\n TSC overlay VV->V Overlay.\n ... null V->V x\n",
    ),
  ).toEqual(["null", "overlay"])
  expect(parseComponentNames("encoders", " V..... = Video\n V....D libx264 H.264\n")).toEqual([
    "libx264",
  ])
})

test("names are those of the installed ffmpeg", async () => {
  const { stdout } = await promisify(execFile)("ffmpeg", ["-hide_banner", "-filters"])
  expect(parseComponentNames("filters", stdout)).toEqual(
    expect.arrayContaining(["scale", "overlay", "null"]),
  )
})

test("an ffmpeg that cannot run is an error", async () => {
  await expect(findFfmpegDifferences("/no/such/ffmpeg", "ffmpeg")).rejects.toThrow("ENOENT")
})

test("the table lists each name with its reason", () => {
  const table = formatFfmpegDifferences([
    { kind: "filters", names: ["zmq", "azmq"], why: "no network" },
  ])
  expect(table.split("\n").at(-1)).toBe("| filters | `zmq` `azmq` | no network |")
})
