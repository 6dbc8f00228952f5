import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { findMediaTools } from "../../../scripts/cli/media-tools.ts"
import { explainMissingSpeechModel } from "../../support/media/speech.ts"
import { expectGone, openDemoStage } from "./demo-stage.ts"
import type { DemoStage } from "./demo-stage.ts"

const LACK = await explainMissingSpeechModel()

const FILES = [
  "lathe-demo-captions-lecture.mp4",
  "lathe-demo-level-clip.mp4",
  "lathe-demo-pictures-poster.jpg",
  "lathe-demo-pictures-waveform.png",
  "lathe-demo-sizes-lecture_240p_h264.mp4",
  "lathe-demo-sizes-lecture_480p_h264.mp4",
  "lathe-demo-sizes-lecture_720p_h264.mp4",
  "lathe-demo-words-transcript.json",
  "lathe-demo-words-transcript.srt",
  "lathe-demo-words-transcript.txt",
  "lathe-demo-words-transcript.vtt",
]
const JOBS = ["level", "words", "captions", "sizes", "pictures"]

let stage: DemoStage

beforeEach(async () => {
  stage = await openDemoStage()
})

afterEach(async () => {
  expect(await stage.leftovers()).toEqual([])
  await stage[Symbol.asyncDispose]()
})

describe("the demo of a lecture", () => {
  it("publishes its own film by one batch, and tells the times and files of each job", async (context) => {
    context.skip(LACK !== null, LACK ?? "")
    const { exitCode, stdout, stderr } = await stage.demo(["lecture"])
    expect([exitCode, stderr]).toEqual([0, ""])
    expect((await readdir(stage.folder)).filter((name) => name !== "tmp")).toEqual(FILES)
    for (const name of JOBS) {
      expect(stdout).toMatch(RegExp(`^ +\\d+\\.\\d s +\\d+ %  ${name} has succeeded$`, "m"))
      expect(stdout).toMatch(
        RegExp(`^${name} .* \\d+\\.\\d\\d +\\d+\\.\\d\\d +\\d+\\.\\d\\d `, "m"),
      )
    }
    expect(stdout).toMatch(/^captions +level, words +\d+ ms /m)
    for (const name of FILES) expect(stdout).toMatch(RegExp(` \\d+ kB +${name}$`, "m"))
    expect(stdout).toContain(`The files are in ${stage.folder}`)
    expect(stdout).toContain("$API/batches -d '{\n")
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u)
    expect(readFileSync(join(stage.folder, "lathe-demo-words-transcript.txt"), "utf8")).toMatch(
      /^Good morning/,
    )
    expect(sizeOf("lathe-demo-sizes-lecture_480p_h264.mp4")).toBe("854,480")
    expect(sizeOf("lathe-demo-pictures-poster.jpg")).toBe("1280,720")
    expect(sizeOf("lathe-demo-pictures-waveform.png")).toBe("1280,240")
    await expectGone(stdout)
  })

  it("publishes a film without speech, without captions", async (context) => {
    context.skip(LACK !== null, LACK ?? "")
    makeMedia("-f lavfi -i testsrc=s=320x180:r=5:d=2 -f lavfi -i sine=d=2", "tone.mp4")
    const { exitCode, stdout, stderr } = await stage.demo(["lecture", "tone.mp4"])
    expect([exitCode, stderr]).toEqual([0, ""])
    expect(stdout).toContain("sizes has succeeded")
    await expectGone(stdout)
  })

  it("reports a film without sound, and creates no batch", async () => {
    makeMedia("-f lavfi -i testsrc=s=64x64:r=5:d=1", "silent.mp4")
    const { exitCode, stdout, stderr } = await stage.demo(["lecture", "silent.mp4"])
    expect(exitCode).toBe(1)
    expect(stderr).toBe("silent.mp4 has no audio: a lecture is a film with speech.\n")
    expect(stdout).not.toContain("batches")
    await expectGone(stdout)
  })

  it("reports a missing faster-whisper with the remedy", async () => {
    const { exitCode, stdout, stderr } = await stage.demo(["lecture"], {
      SPEECH_PYTHON_PATH: join(stage.folder, "python"),
    })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^This service cannot transcribe speech: .+\. `npm run setup` .+\.\n$/m)
    await expectGone(stdout)
  })

  it("reports a missing file, and fails", async () => {
    const { exitCode, stdout, stderr } = await stage.demo(["lecture", "nowhere.mp4"])
    expect([exitCode, stdout, stderr]).toEqual([1, "", "There is no file nowhere.mp4.\n"])
  })
})

function makeMedia(input: string, name: string): void {
  const words = ["-v", "error", ...input.split(" "), join(stage.folder, name)]
  execFileSync(findMediaTools().ffmpeg, words)
}

/** Returns width and height of the picture of a saved file. */
function sizeOf(name: string): string {
  const words = "-v error -select_streams v -show_entries stream=width,height -of csv=p=0"
  const path = join(stage.folder, name)
  return execFileSync(findMediaTools().ffprobe, [...words.split(" "), path], { encoding: "utf8" })
    .trim()
    .replace(/,$/, "")
}
