import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { RunnerError } from "../../../../container/task-failure.ts"
import { waitFor } from "../../harness.ts"
import {
  SHORT_SPEECH_TEXT,
  makeSkipSuffix,
  LONG_SPEECH_TEXT,
  explainMissingSpeechTools,
} from "../../../support/media/speech.ts"
import { wordErrorRate } from "../../../support/media/word-error-rate.ts"
import { RATE, requireSpeech, noise, openSpeechLab, textOf } from "./lab.ts"
import type { SpeechLab } from "./lab.ts"

const DRIVER = "whisper/driver/main.py"
const PAUSE_SECONDS = 160
const ERROR_RATE_MAX = 0.05
/** Long timeout: on a busy machine, transcription takes nearly as long as speech. */
const BUSY_TEST_MS = 150_000
const lack = await explainMissingSpeechTools()

/**
 * Returns the process ids of this runner's workers, also inside other processes such as launchers.
 */
async function workers(): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=,ppid=,args="])
  const rows = stdout.split("\n").map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [])
  const own = new Set([process.pid])
  for (const [, pid, parent] of rows) if (own.has(Number(parent))) own.add(Number(pid))
  const ofDriver = rows.filter(([, , , words]) => words?.endsWith(DRIVER))
  return ofDriver.map(([, pid]) => Number(pid)).filter((pid) => own.has(pid))
}

describe.skipIf(lack !== null)(
  `transcribing a sound${makeSkipSuffix(lack)}`,
  { timeout: BUSY_TEST_MS },
  () => {
    let lab: SpeechLab
    let greeting: Buffer

    beforeAll(async () => {
      lab = await openSpeechLab()
      const [first, second] = await Promise.all([
        lab.say("Good morning."),
        lab.say("The train to the city leaves at nine."),
      ])
      greeting = Buffer.concat([first, noise(1.5, 0), second])
    })

    afterAll(async () => {
      await lab.close()
      expect(await workers()).toEqual([])
    })

    test("two voices with a long pause between them are transcribed with correct times", async () => {
      const [first, second] = await Promise.all([
        lab.say(LONG_SPEECH_TEXT, "slt"),
        lab.say(SHORT_SPEECH_TEXT, "rms"),
      ])
      const sound = Buffer.concat([first, noise(PAUSE_SECONDS, 0), second])
      const fractions: number[] = []
      const heard = requireSpeech(
        await lab.transcribe(sound, { onFraction: (fraction) => void fractions.push(fraction) }),
      )
      expect(
        wordErrorRate(`${LONG_SPEECH_TEXT} ${SHORT_SPEECH_TEXT}`, textOf(heard)),
      ).toBeLessThanOrEqual(ERROR_RATE_MAX)
      expect(heard).toMatchObject({ language: "en" })
      expect(heard.languageProbability).toBeGreaterThan(0.8)
      const words = heard.segments.flatMap((segment) => segment.words)
      const times = words.flatMap(({ start, end }) => [start, end])
      expect(times).toEqual(times.toSorted((one, other) => one - other))
      expect(times.at(-1)).toBeLessThanOrEqual(sound.length / 2 / RATE)
      const pauseStart = first.length / 2 / RATE
      const inPause = words.filter(
        ({ start }) => start > pauseStart + 1 && start < pauseStart + PAUSE_SECONDS - 1,
      )
      expect(inPause).toEqual([])
      expect(fractions).toEqual(fractions.toSorted((one, other) => one - other))
      expect(fractions.at(-1)).toBe(1)
      expect(fractions.length).toBeGreaterThan(4)
    })

    test.each([
      ["silence", noise(40, 0)],
      ["noise", noise(40, 0.3)],
      ["nothing at all", Buffer.alloc(0)],
    ])("%s has no segments, and only a requested language", async (_, sound) => {
      const nothing = { languageProbability: null, segments: [] }
      expect(await lab.transcribe(sound)).toEqual({ language: null, ...nothing })
      expect(await lab.transcribe(sound, { language: "de" })).toEqual({
        language: "de",
        ...nothing,
      })
    })

    test("a transcription does not depend on earlier ones", async () => {
      const before = await lab.transcribe(greeting)
      await lab.transcribe(greeting, { language: "en", prompt: "A letter about a bus." })
      expect(await lab.transcribe(greeting)).toEqual(before)
    })

    test("a prompt cannot contain control tokens", async () => {
      const prompt = "<|endoftext|>".repeat(70)
      expect(textOf(requireSpeech(await lab.transcribe(greeting, { prompt })))).toContain("train")
    })

    test("a task that takes too long ends with its time limit", async () => {
      const sound = Buffer.concat(Array.from({ length: 60 }, () => greeting))
      expect(await lab.transcribe(sound, { timeLimitMs: 500.5 })).toBe("time limit")
    })

    test("a process that dies fails only its own task", async () => {
      const sound = Buffer.concat(Array.from({ length: 60 }, () => greeting))
      const spawned = Promise.withResolvers<void>()
      const failed = lab
        .transcribe(sound, { onSpawn: spawned.resolve })
        .catch((error: unknown) => error)
      await spawned.promise
      for (const pid of await waitFor(async () => nonEmpty(await workers())))
        process.kill(pid, "SIGKILL")
      expect(await failed).toBeInstanceOf(RunnerError)
      expect(textOf(requireSpeech(await lab.transcribe(greeting)))).toContain("train")
    })

    test("a worker serves one account, and is kept for it", async () => {
      const silence = noise(1, 0)
      await lab.transcribe(silence, { accountId: "two" })
      const ofTwo = await workers()
      expect(ofTwo).not.toEqual([])
      await lab.transcribe(silence, { accountId: "two" })
      expect(await workers()).toEqual(ofTwo)
      // Tasks of other accounts, as many as there may be workers: each replaces an idle worker.
      for (let place = 0; place < lab.settings.capacity; place += 1) {
        await lab.transcribe(silence, { accountId: `other ${place}` })
      }
      expect((await workers()).filter((pid) => ofTwo.includes(pid))).toEqual([])
    })
  },
)

describe.skipIf(lack !== null)(`the workers of a runner${makeSkipSuffix(lack)}`, () => {
  test("an idle worker exits after a timeout", async () => {
    const { speech } = (await openSpeechLab()).settings
    const lab = await openSpeechLab({ speech: { ...speech, idleMs: 300 } })
    requireSpeech(await lab.transcribe(noise(1, 0)))
    expect(await workers()).not.toEqual([])
    await waitFor(async () => (await workers()).length === 0)
    await lab.close()
  })

  test("a missing model is reported", async () => {
    const lab = await openSpeechLab()
    await expect(lab.transcribe(noise(1, 0), { model: "huge" })).rejects.toThrow(
      'This runner does not have the speech model "huge".',
    )
    await lab.close()
  })
})

function nonEmpty(pids: number[]): number[] | null {
  return pids.length > 0 ? pids : null
}
