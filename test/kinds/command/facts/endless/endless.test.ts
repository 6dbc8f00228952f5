import { execFile, spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import pMap from "p-map"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { mediaTools } from "../../../../../scripts/local/media-tools.ts"
import { probeResult } from "../../../../../src/contract/probe.ts"
import type { ProbeResult } from "../../../../../src/contract/probe.ts"
import { substitute } from "../../../../../src/contract/tasks/command.ts"
import { checkByFacts } from "../../../../../src/kinds/command/facts/check-command.ts"
import image from "../../../../../src/kinds/command/facts/image.json" with { type: "json" }
import { openFacts } from "../../../../../src/kinds/command/facts/known.ts"
import { splitWords } from "../../../../../src/kinds/command/lines.ts"
import { ENDING, ENDLESS } from "./cases.ts"

const run = promisify(execFile)

const NAMES = new Map([
  ["in_1", "in_1.mp4"],
  ["in_mute", "in_mute.mp4"],
  ["in_stereo", "in_stereo.mp4"],
  ["in_pic", "in_pic.png"],
  ["in_snd", "in_snd.wav"],
  ["in_gif", "in_gif.gif"],
])
/** All inputs last a second. */
const MADE_SECONDS = 20
const RUNS_MS = 1000
const ENDS_WITHIN_MS = 60_000
const AT_ONCE = 3

const known = openFacts(image)
const probes = new Map<string, ProbeResult>()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lathe-endless-"))
  const video = "-f lavfi -i testsrc2=s=16x16:r=10:d=1"
  await make(`${video} -c:v mpeg4 in_mute.mp4`)
  await make(`${video} -f lavfi -i sine=d=1 -c:v mpeg4 -c:a aac in_1.mp4`)
  await make(`${video} -f lavfi -i sine=d=1 -c:v mpeg4 -c:a aac -ac 2 in_stereo.mp4`)
  await make(`${video} -frames:v 1 in_pic.png`)
  await make(`${video} in_gif.gif`)
  await make(`${video} -frames:v 3 in_pics_%d.png`)
  await writeFile(join(folder, "in_text.srt"), "1\n00:00:00,000 --> 00:00:00,900\nHi\n")
  await writeFile(join(folder, "in_list.txt"), "file in_1.mp4\nfile in_1.mp4\n")
  await make("-f lavfi -i sine=d=1 in_snd.wav")
  for (const name of NAMES.values()) probes.set(name, await probe(name))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function make(line: string) {
  await run(mediaTools().ffmpeg, ["-v", "error", ...line.split(" ")], { cwd: folder })
}

async function probe(name: string): Promise<ProbeResult> {
  const argv = ["-v", "error", "-show_format", "-show_streams", "-of", "json", name]
  const { stdout } = await run(mediaTools().ffprobe, argv, { cwd: folder })
  const { format, streams } = z
    .object({ format: z.looseObject({}), streams: z.array(z.looseObject({})) })
    .parse(JSON.parse(stdout))
  const [format_name, duration] = [String(format["format_name"]), Number(format["duration"])]
  return probeResult.parse({
    format_name,
    format,
    streams,
    ...(duration > 0 && { duration }),
  })
}

function wordsOf(line: string): string[] {
  const split = splitWords(line)
  if ("error" in split) throw new Error(split.error)
  return substitute(split.words, NAMES)
}

function told(line: string, probed: ReadonlyMap<string, ProbeResult> = probes): string[] {
  return checkByFacts(wordsOf(line), known, probed).map(({ code, message }) => `${code} ${message}`)
}

type End = "succeeds" | "fails" | "goes on"

/** What ffmpeg does within a time, and until it made much more than it was given. */
async function endOf(line: string, withinMs: number): Promise<End> {
  const workspace = await mkdtemp(join(folder, "run-"))
  const words = wordsOf(line).map((word) => word.replace(/^out/, `${workspace}/out`))
  const argv = ["-y", "-nostdin", "-v", "error", "-stats_period", "0.1", "-progress", "pipe:1"]
  const child = spawn(mediaTools().ffmpeg, [...argv, ...words], { cwd: folder })
  child.stderr.resume()
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs)
  const ended = new Promise((resolve) => child.once("close", resolve))
  for await (const text of createInterface({ input: child.stdout })) {
    const made = Number(/^out_time_us=(\d+)/.exec(text)?.[1] ?? 0) / 1e6
    if (made > MADE_SECONDS) child.kill("SIGKILL")
  }
  await ended
  clearTimeout(timer)
  await rm(workspace, { recursive: true, force: true })
  if (child.killed) return "goes on"
  return child.exitCode === 0 ? "succeeds" : "fails"
}

async function linesThat(lines: readonly string[], are: (line: string) => Promise<boolean>) {
  const found = await pMap(lines, async (line) => ((await are(line)) ? [line] : []), {
    concurrency: AT_ONCE,
  })
  return found.flat()
}

describe("a command without an end is refused, with what would end it", () => {
  test.for(ENDLESS)("%s", ([line, remedy]) => {
    expect(told(line)).toEqual([expect.stringMatching(/^endless_input .* would never be done; /)])
    expect(told(line).join()).toContain(remedy)
  })

  test("and has none", async () => {
    const ending = await linesThat(
      ENDLESS.map(([line]) => line),
      async (line) => {
        return (await endOf(line, RUNS_MS)) !== "goes on"
      },
    )
    expect(ending).toEqual([])
  })
})

describe("a command with an end is not refused", () => {
  test.for(ENDING)("%s", (line) => {
    expect(told(line)).toEqual([])
    expect(told(line, new Map())).toEqual([])
  })

  test("and has one", async () => {
    const others = await linesThat(ENDING, async (line) => {
      return (await endOf(line, ENDS_WITHIN_MS)) !== "succeeds"
    })
    expect(others).toEqual([])
  })
})

test("what is not known of an input is not taken for endless", () => {
  const unknown = new Map<string, ProbeResult>()
  const lines = [
    "-i in_1 -f lavfi -i anullsrc -c:v copy -c:a aac out.mp4",
    "-i in_1 -loop 1 -i in_pic -filter_complex overlay out.mkv",
    "-stream_loop -1 -i in_1 -map 0:a? -i in_mute -map 1:v out.mkv",
    "-stream_loop -1 -i in_1 -map 0 -map -0:v out.mkv",
    "-stream_loop -1 -i in_1 -vf trim=0:2 -af atrim=0:2 out.mkv",
    "-loop 1 -i in_pic -i in_1 -shortest -map 0 -map 1:a? out.mkv",
    "-f lavfi -i testsrc -vf unheardof out.mkv",
  ]
  for (const line of lines) expect(told(line, unknown).join()).not.toContain("endless_input")
})
