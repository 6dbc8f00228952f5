import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import pMap from "p-map"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { mediaTools } from "../../../../scripts/local/media-tools.ts"
import { readCommand } from "../../../../src/contract/command-line.ts"
import { checkByFacts } from "../../../../src/kinds/command/facts/check-command.ts"
import { checkFirstPass } from "../../../../src/kinds/command/facts/first-pass.ts"
import image from "../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { openFacts } from "../../../../src/kinds/command/facts/known.ts"
import { ALLOWED } from "../policy/allowed-cases.ts"
import { wordsOf } from "../policy/ask.ts"
import { judge, wordsOfWrong } from "./judge-wrong.ts"
import { RIGHT } from "./right.ts"
import { WRONG_CODECS } from "./wrong-codecs.ts"
import { ENDLESS, WRONG_GRAPHS } from "./wrong-graphs.ts"
import { WRONG_OPTIONS } from "./wrong-options.ts"
import { EMPTY, WRONG_OUTPUTS } from "./wrong-outputs.ts"
import { WRONG_SIZES } from "./wrong-sizes.ts"
import { WRONG_STREAMS } from "./wrong-streams.ts"
import { WRONG_VALUES } from "./wrong-values.ts"

const run = promisify(execFile)
const FAILING = [
  WRONG_OPTIONS,
  WRONG_VALUES,
  WRONG_CODECS,
  WRONG_GRAPHS,
  WRONG_STREAMS,
  WRONG_SIZES,
  WRONG_OUTPUTS,
].flat()
const FAILS_WITHIN_MS = 60_000
const AT_ONCE = 3
/** For some hundred runs of ffmpeg, on a machine that has others to do. */
const ALL_WITHIN_MS = 600_000

const known = openFacts(image)
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-wrong-"))
  const sources = "-f lavfi -i testsrc2=s=160x120:d=1 -f lavfi -i sine=d=1"
  await ffmpeg([...sources.split(" "), "-c:v", "libx264", "-c:a", "aac", "in_1.mp4"])
  await ffmpeg(["-i", "in_1.mp4", "-frames:v", "1", "in_pic.png"])
  await ffmpeg(["-i", "in_1.mp4", "-vn", "in_snd.wav"])
  await writeFile(join(folder, "in_2.srt"), "1\n00:00:00,000 --> 00:00:00,400\nHi\n")
  await ffmpeg(["-i", "in_1.mp4", "-an", "-c", "copy", "in_mute.mp4"])
  const both = "-i in_1.mp4 -i in_2.srt -map 0 -map 1 -c copy -c:s srt in_full.mkv"
  await ffmpeg(both.split(" "))
  const still = "-f lavfi -i testsrc2=s=160x120:d=0.04 -i in_1.mp4 -map 0 -map 1:a -c:a copy"
  await ffmpeg([...still.split(" "), "-c:v", "libx264", "in_still.mp4"])
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function ffmpeg(words: readonly string[]) {
  const argv = ["-y", "-nostdin", "-v", "error", ...words]
  await run(mediaTools().ffmpeg, argv, { cwd: folder, timeout: FAILS_WITHIN_MS })
}

/** Whether ffmpeg does what a line says. */
async function works(line: string): Promise<boolean> {
  return await ffmpeg(wordsOfWrong(line)).then(
    () => true,
    () => false,
  )
}

describe("wrong commands", () => {
  const refused = [...FAILING, ...ENDLESS, ...EMPTY].flatMap(([line, remedy]) => {
    return remedy === null ? [] : [[line, remedy] as const]
  })

  test.for(refused)("%s", ([line, remedy]) => {
    expect(judge(line, known).join("\n")).toContain(remedy)
  })

  test("are nearly all known for that before they run", () => {
    expect(FAILING.length).toBeGreaterThan(250)
    expect(refused.length / (FAILING.length + ENDLESS.length + EMPTY.length)).toBeGreaterThan(0.95)
  })

  test("do fail", { timeout: ALL_WITHIN_MS }, async () => {
    const working = await pMap(FAILING, async ([line]) => ((await works(line)) ? [line] : []), {
      concurrency: AT_ONCE,
    })
    expect(working.flat()).toEqual([])
  })
})

/** Lines that the policy allows, and that ffmpeg would not do: with a filter that is not built in, or unescaped. */
const NOT_DONE = /libvmaf|-metadata -report|text='http:|min\(zoom|max\(iw/

describe("legitimate commands are not refused", () => {
  const allowed = Object.values(ALLOWED).flat()

  test("of the policy's own cases", () => {
    const lines = allowed.filter((line) => !NOT_DONE.test(line))
    expect(lines.length).toBeGreaterThan(100)
    expect(lines.flatMap((line) => checkByFacts(wordsOf(line), known, new Map()))).toEqual([])
  })

  test.for(RIGHT)("%s", (line) => {
    expect(judge(line, known)).toEqual([])
  })

  test("and work", { timeout: ALL_WITHIN_MS }, async () => {
    const failing = await pMap(RIGHT, async (line) => ((await works(line)) ? [] : [line]), {
      concurrency: AT_ONCE,
    })
    expect(failing.flat()).toEqual([])
  })

  test("as second passes that have no pictures", () => {
    const lines = ["-i in_1 -vn -pass 2 out.mka", "-i in_snd -pass 2 out.mp3"]
    expect(lines.flatMap((line) => checkFirstPass(readCommand(wordsOfWrong(line))))).toEqual([])
  })
})

test("an option that newer versions have no more is told with what does it", () => {
  expect(judge("-i in_1 -map_channel 0.0.0 out.wav", known)).toEqual([
    expect.stringContaining('write `-af "pan=mono|c0=c0"`'),
  ])
})
