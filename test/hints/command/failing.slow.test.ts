import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { mediaTools } from "../../../scripts/local/media-tools.ts"
import { COMMAND_TERMS } from "../../../src/kinds/command/policy/terms.ts"
import image from "../../../src/kinds/command/facts/image.json" with { type: "json" }
import { openFacts } from "../../../src/kinds/command/facts/known.ts"
import { splitWords } from "../../../src/kinds/command/lines.ts"
import { failingFiles } from "../../../src/hints/command/files.ts"
import { correctGraph } from "../../../src/hints/command/graphs.ts"
import { MISTAKES_IN_GRAPHS } from "./graphs-and-names.ts"

const run = promisify(execFile)
const known = openFacts(image)
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
  await run(mediaTools().ffmpeg, argv, { cwd: folder, timeout: RUN_MS_MAX })
}

async function works(line: string): Promise<boolean> {
  const words = line.replaceAll("{{in_1}}", "in_1.mp4").split(" ")
  return await ffmpeg(words).then(
    () => true,
    () => false,
  )
}

/** A line as it was meant: with its graph as a mend writes it; null where none does. */
function mendedLine(line: string): string[] | null {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  const { words, raws } = split
  const place = words.findIndex((word) => /^-[va]f$/.test(word))
  const [option = "", graph = ""] = words.slice(place, place + 2)
  const given = { inputKeys: ["in_1"], outputKeys: ["out_1"], terms: COMMAND_TERMS, known }
  const told = correctGraph(option, graph, { words, raws, ...given })
  const written = /`(.+)`$/.exec(told ?? "")?.[1]
  const mended = written === undefined ? null : splitWords(written)
  return mended && "words" in mended ? ["-i", "in_1.mp4", ...mended.words, "out.mp4"] : null
}

function isRefused(line: string): boolean {
  const words = line.split(" ")
  const given = { inputKeys: ["in_1"], outputKeys: ["out_1"], terms: COMMAND_TERMS, known: null }
  return failingFiles({ words, raws: words, ...given }).length > 0
}

/** Commands that nothing else refuses, and whose files cannot be. */
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

describe("files that cannot be are refused", () => {
  test.for(FAILING)("%s", async (line) => {
    expect([isRefused(line), await works(line)]).toEqual([true, false])
  })
})

describe("files that can be are not", () => {
  test.for(WORKING)("%s", async (line) => {
    expect([isRefused(line), await works(line)]).toEqual([false, true])
  })
})

test("what a graph is told to be, ffmpeg takes", async () => {
  const mended = MISTAKES_IN_GRAPHS.flatMap(([line, code]) => {
    // A text needs fonts, which a machine need not have.
    const words = code === "filter_error" && !line.includes("drawtext") ? mendedLine(line) : null
    return words ? [words] : []
  })
  expect(mended.length).toBeGreaterThan(15)
  for (const words of mended) await ffmpeg(words)
})
