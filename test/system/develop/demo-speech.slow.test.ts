import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { explainMissingSpeechModel } from "../../support/media/speech.ts"
import { selectCases } from "../../support/wide.ts"
import { wordErrorRate } from "../../support/media/word-error-rate.ts"
import { expectGone, openDemoStage } from "./demo-stage.ts"
import type { DemoStage } from "./demo-stage.ts"

const LACK = await explainMissingSpeechModel()

const SAID =
  "Good morning. This recording is much too quiet. Can anybody still hear what I am saying? " +
  "I can, if I listen closely. A good service brings our voices to the right level, and then it " +
  "writes down every word."

let stage: DemoStage

beforeEach(async () => {
  stage = await openDemoStage()
})

afterEach(async () => {
  expect(await stage.leftovers()).toEqual([])
  await stage[Symbol.asyncDispose]()
})

describe("the demo of sound and speech", () => {
  it("normalizes its own clip, transcribes it, and shows the requests", async (context) => {
    context.skip(LACK !== null, LACK ?? "")
    const { exitCode, stdout, stderr } = await stage.demo(["speech"])
    expect([exitCode, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(/^ +before +after$/m)
    expect(stdout).toMatch(/^loudness +-33\.\d LUFS +-2[23]\.\d LUFS$/m)
    expect(stdout).toMatch(/^by the demo's meter +-33\.\d LUFS +-2[23]\.\d LUFS$/m)
    expect(stdout).toMatch(/^true peak +-\d+\.\d dBTP +-\d+\.\d dBTP$/m)
    expect(stdout).toMatch(/^Sound +mp3 in mp3, gain linear, target reached$/m)
    expect(stdout).toMatch(/^Language +en, by the model base$/m)
    expect(wordErrorRate(SAID, wordsOf(stdout))).toBeLessThan(0.2)
    expect(stdout).toMatch(/^Captions +1\n +00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\n +Good morning/m)
    expect(stdout).toContain('curl -s -H "X-API-Key: $KEY" -F \'file=@"')
    expect(stdout).toMatch(/^ {10}http:\S+\/v1\/files\/[\da-f-]{36}\/output\.mp3$/m)
    for (const format of ["srt", "vtt", "json", "txt"]) {
      expect(stdout).toMatch(RegExp(`^ +http:\\S+/v1/transcribe/\\S+/transcript\\.${format}$`, "m"))
    }
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u)
    const captions = await readFile(join(stage.folder, "lathe-demo-output.srt"), "utf8")
    expect(captions).toMatch(/^1\n00:00:0/)
    expect(await readFile(join(stage.folder, "lathe-demo-output.mp3"))).not.toHaveLength(0)
    await expectGone(stdout)
  })

  it("reports a missing faster-whisper with the remedy", async () => {
    const { exitCode, stdout, stderr } = await stage.demo(["speech"], {
      SPEECH_PYTHON_PATH: join(stage.folder, "python"),
    })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^Sound +mp3 in mp3/m)
    expect(stderr).toMatch(/^This service cannot transcribe speech: .+\. `npm run setup` .+\.\n$/m)
    await expectGone(stdout)
  })

  it.each(selectCases([], ["words.txt"]))(
    "reports that %s has no sound, and fails",
    async (name) => {
      await writeFile(join(stage.folder, name), "Plain words.\n")
      const { exitCode, stdout, stderr } = await stage.demo(["speech", name])
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/^[A-Z].+\.\n$/)
      await expectGone(stdout)
    },
  )

  it("reports a missing file, and fails", async () => {
    const { exitCode, stdout, stderr } = await stage.demo(["speech", "nowhere.mp3"])
    expect([exitCode, stdout, stderr]).toEqual([1, "", "There is no file nowhere.mp3.\n"])
  })
})

function wordsOf(stdout: string): string {
  return /^Words +([^]+?)^Captions/m.exec(stdout)?.[1] ?? ""
}
