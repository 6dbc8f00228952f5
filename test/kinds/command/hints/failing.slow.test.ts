import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { findMediaTools } from "../../../../scripts/cli/media-tools.ts"
import { COMMAND_REMEDIES } from "../../../../src/ffmpeg/policy/remedies.ts"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { createCapabilities } from "../../../../src/kinds/command/facts/capabilities.ts"
import { splitWords } from "../../../../src/kinds/command/lines.ts"
import { findUnusableFileRefusals } from "../../../../src/kinds/command/hints/files.ts"
import { describeGraphCorrection } from "../../../../src/kinds/command/hints/graphs.ts"
import { MISTAKES_IN_GRAPHS } from "./graphs-and-names.ts"

const run = promisify(execFile)
const known = createCapabilities(image)
const RUN_MS_MAX = 60_000
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-hints-"))
  const [picture, sound] = ["testsrc2=s=160x120:d=1", "sine=d=1"]
  await ffmpeg(["-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound, "in_1.mp4"])
  await ffmpeg(["-i", "in_1.mp4", "-frames:v", "2", "-update", "0", "in_%d.png"])
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function ffmpeg(words: readonly string[]) {
  const argv = ["-y", "-nostdin", "-v", "error", ...words]
  await run(findMediaTools().ffmpeg, argv, { cwd: folder, timeout: RUN_MS_MAX })
}

async function works(line: string): Promise<boolean> {
  const words = line.replaceAll("{{in_1}}", "in_1.mp4").split(" ")
  return await ffmpeg(words).then(
    () => true,
    () => false,
  )
}

/** Returns a line with its graph corrected by the hint; null without a correction. */
function correctedLine(line: string): string[] | null {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  const { words, raws } = split
  const place = words.findIndex((word) => /^-[va]f$/.test(word))
  const [option = "", graph = ""] = words.slice(place, place + 2)
  const given = {
    inputKeys: ["in_1"],
    outputKeys: ["out_1"],
    remedies: COMMAND_REMEDIES,
    capabilities: known,
  }
  const told = describeGraphCorrection(option, graph, { words, raws, ...given })
  const written = /`(.+)`$/.exec(told ?? "")?.[1]
  const corrected = written === undefined ? null : splitWords(written)
  return corrected && "words" in corrected
    ? ["-i", "in_1.mp4", ...corrected.words, "out.mp4"]
    : null
}

function isRefused(line: string): boolean {
  const words = line.split(" ")
  const given = {
    inputKeys: ["in_1"],
    outputKeys: ["out_1"],
    remedies: COMMAND_REMEDIES,
    capabilities: null,
  }
  return findUnusableFileRefusals({ words, raws: words, ...given }).length > 0
}

/** Commands with impossible files that no other check refuses. */
const FAILING = [
  "in_1.mp4 out.mp4",
  "out.mp4",
  "-f null -",
  "-f mp4 out.mp4",
  "-c copy -map 0 out.mkv",
  "-vf hflip -t 1 out.mp4",
  "-f hls out.m3u8",
  "-f segment out%d.mp4",
  "-f image2 out.png",
  "-metadata title=A out.mp4",
  "-i *.mp4 out.mp4",
  "-i in_*.png out.mp4",
  "-i %1 out.mp4",
  "-i %1.mp4 out.mp4",
  "-i {{in_1}} -map {{in_1}}:v out.mp4",
  "-i {{in_1}} -map {{in_1}} out.mp4",
  "-i {{in_1}} -map in_1:v out.mp4",
  "-i [{{in_1}}] out.mp4",
  "-i ({{in_1}}) out.mp4",
  "-i {{in_1}}, out.mp4",
]

const WORKING = [
  "-i in_1.mp4 out.mp4",
  "-f ffmetadata out.txt",
  "-metadata title=A out.ffmeta",
  "-filter_complex color=s=64x64:d=1 out.mp4",
  "-pattern_type glob -i in_*.png out.mp4",
  "-i in_%d.png out.mp4",
  "-f image2 -i in_%1d.png out.mp4",
]

describe("impossible files are refused", () => {
  test.for(FAILING)("%s", async (line) => {
    expect([isRefused(line), await works(line)]).toEqual([true, false])
  })
})

describe("possible files are accepted", () => {
  test.for(WORKING)("%s", async (line) => {
    expect([isRefused(line), await works(line)]).toEqual([false, true])
  })
})

test("ffmpeg accepts the graph that a hint suggests", async () => {
  const corrected = MISTAKES_IN_GRAPHS.flatMap(([line, code]) => {
    // drawtext needs fonts, which a machine may lack.
    const words = code === "filter_error" && !line.includes("drawtext") ? correctedLine(line) : null
    return words ? [words] : []
  })
  expect(corrected.length).toBeGreaterThan(15)
  for (const words of corrected) await ffmpeg(words)
})
