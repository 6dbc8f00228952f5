import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { RunnerError } from "../../../../container/failures.ts"
import { waitFor } from "../../harness.ts"
import { GREETING, skipNote, STORY, whyNoSpeech } from "../../../support/speech.ts"
import { wordErrorRate } from "../../../support/word-error-rate.ts"
import { RATE, heardIn, noise, openSpeechLab, textOf } from "./lab.ts"
import type { SpeechLab } from "./lab.ts"

const DRIVER = "whisper/driver/main.py"
const PAUSE_SECONDS = 160
const ERROR_RATE_MAX = 0.05
/** A busy machine hears not much faster than voices speak. */
const BUSY_TEST_MS = 150_000
const lack = await whyNoSpeech()

/** Process ids of this runner's workers, whatever is around them. */
async function workers(): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=,ppid=,args="])
  const rows = stdout.split("\n").map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [])
  const own = new Set([process.pid])
  for (const [, pid, parent] of rows) if (own.has(Number(parent))) own.add(Number(pid))
  const ofDriver = rows.filter(([, , , words]) => words?.endsWith(DRIVER))
  return ofDriver.map(([, pid]) => Number(pid)).filter((pid) => own.has(pid))
}

describe.skipIf(lack !== null)(
  `transcribing a sound${skipNote(lack)}`,
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

    test("two voices with a long pause between are written down, each word at its time", async () => {
      const [first, second] = await Promise.all([lab.say(STORY, "slt"), lab.say(GREETING, "rms")])
      const sound = Buffer.concat([first, noise(PAUSE_SECONDS, 0), second])
      const fractions: number[] = []
      const heard = heardIn(
        await lab.hear(sound, { onFraction: (fraction) => void fractions.push(fraction) }),
      )
      expect(wordErrorRate(`${STORY} ${GREETING}`, textOf(heard))).toBeLessThanOrEqual(
        ERROR_RATE_MAX,
      )
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

    test("a short sound has its sentences as segments", async () => {
      const { segments } = heardIn(await lab.hear(greeting))
      expect(segments.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^Good morning/),
        expect.stringMatching(/train to the city/),
      ])
    })

    test.each([
      ["silence", noise(40, 0)],
      ["noise", noise(40, 0.3)],
      ["nothing at all", Buffer.alloc(0)],
    ])("%s has no segments, and no language but the one asked for", async (_, sound) => {
      const nothing = { languageProbability: null, segments: [] }
      expect(await lab.hear(sound)).toEqual({ language: null, ...nothing })
      expect(await lab.hear(sound, { language: "de" })).toEqual({ language: "de", ...nothing })
    })

    test("what is heard does not depend on what was heard before", async () => {
      const before = await lab.hear(greeting)
      await lab.hear(greeting, { language: "en", prompt: "A letter about a bus." })
      expect(await lab.hear(greeting)).toEqual(before)
    })

    test("a prompt has no commands for the model", async () => {
      const prompt = "<|endoftext|>".repeat(70)
      expect(textOf(heardIn(await lab.hear(greeting, { prompt })))).toContain("train")
    })

    test("a canceled task leaves no process, and the next one is done by another", async () => {
      const sound = Buffer.concat(Array.from({ length: 60 }, () => greeting))
      const controller = new AbortController()
      const spawned = Promise.withResolvers<void>()
      const ask = { signal: controller.signal, onSpawn: spawned.resolve }
      const canceled = lab.hear(sound, ask).catch((error: unknown) => error)
      await spawned.promise
      await sleep(300)
      const running = await workers()
      expect(running.length).toBeGreaterThan(0)
      controller.abort(new Error("canceled"))
      expect(await canceled).toEqual(new Error("canceled"))
      expect(await workers()).toEqual([])
      expect(textOf(heardIn(await lab.hear(greeting)))).toContain("train")
      expect(await workers()).not.toEqual(running)
    })

    test("a task that takes too long fails as such", async () => {
      const sound = Buffer.concat(Array.from({ length: 60 }, () => greeting))
      expect(await lab.hear(sound, { timeLimitMs: 500.5 })).toBe("time limit")
    })

    test("a process that dies fails its task alone", async () => {
      const sound = Buffer.concat(Array.from({ length: 60 }, () => greeting))
      const spawned = Promise.withResolvers<void>()
      const failed = lab.hear(sound, { onSpawn: spawned.resolve }).catch((error: unknown) => error)
      await spawned.promise
      for (const pid of await waitFor(async () => nonEmpty(await workers())))
        process.kill(pid, "SIGKILL")
      expect(await failed).toBeInstanceOf(RunnerError)
      expect(textOf(heardIn(await lab.hear(greeting)))).toContain("train")
    })

    test("a process serves one account, and is kept for it", async () => {
      const silence = noise(1, 0)
      await lab.hear(silence, { accountId: "two" })
      const ofTwo = await workers()
      expect(ofTwo).not.toEqual([])
      await lab.hear(silence, { accountId: "two" })
      expect(await workers()).toEqual(ofTwo)
      // As many others as there may be processes: each takes the place of one.
      for (let place = 0; place < lab.settings.capacity; place += 1) {
        await lab.hear(silence, { accountId: `other ${place}` })
      }
      expect((await workers()).filter((pid) => ofTwo.includes(pid))).toEqual([])
    })
  },
)

describe.skipIf(lack !== null)(`the workers of a runner${skipNote(lack)}`, () => {
  test("one leaves after it was idle", async () => {
    const { speech } = (await openSpeechLab()).settings
    const lab = await openSpeechLab({ speech: { ...speech, idleMs: 300 } })
    heardIn(await lab.hear(noise(1, 0)))
    expect(await workers()).not.toEqual([])
    await waitFor(async () => (await workers()).length === 0)
    await lab.close()
  })

  test("a model that is not there is said to be missing", async () => {
    const lab = await openSpeechLab()
    await expect(lab.hear(noise(1, 0), { model: "huge" })).rejects.toThrow(
      'This runner does not have the speech model "huge".',
    )
    await lab.close()
  })
})

function nonEmpty(pids: number[]): number[] | null {
  return pids.length > 0 ? pids : null
}
