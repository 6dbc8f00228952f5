import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeMediaFile } from "../../../scripts/cli/client/media.ts"
import { findRunner, findSpeechWorkers } from "../../faults/processes.ts"
import {
  SHORT_SPEECH_TEXT,
  generateSpeech,
  LONG_SPEECH_TEXT,
  explainMissingSpeechTools,
} from "../../support/media/speech.ts"
import { selectCases } from "../../support/wide.ts"
import { wordErrorRate } from "../../support/media/word-error-rate.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

const LACK = await explainMissingSpeechTools()
const TIMES = 12
const GONE_MS = 10_000
const IDLE_MS = 500
const POLL_MS = 20
const BUSY_TIMEOUT_MS = 40_000

const created = z.looseObject({ transcribe_id: z.uuid() })
const record = z.looseObject({
  status: z.string(),
  error_code: z.string().optional(),
  attempts: z.int(),
  progress: z.number().nullable(),
  transcript: z.string().nullish(),
})

describe.skipIf(LACK !== null)(
  `a transcription that is interrupted${LACK === null ? "" : ` (skipped: ${LACK})`}`,
  () => {
    let stage: SoundStage
    let story: string
    let greeting: string
    let long: string

    beforeAll(async () => {
      stage = await openSoundStage("transcribe-ends")
      const path = await generateSpeech(stage.folder, { name: "story.wav", text: LONG_SPEECH_TEXT })
      const words = `-stream_loop ${TIMES - 1} -i ${path} -c:a flac`
      const repeated = await makeMediaFile(stage.folder, "long.flac", words)
      story = `svc_id://${await stage.upload(path)}`
      const short = await generateSpeech(stage.folder, {
        name: "greeting.wav",
        text: SHORT_SPEECH_TEXT,
      })
      greeting = `svc_id://${await stage.upload(short)}`
      long = `svc_id://${await stage.upload(repeated)}`
    })

    afterAll(async () => await stage[Symbol.asyncDispose]())

    async function transcribe(file_url: string): Promise<string> {
      const answer = await stage.postJson("/transcribe", { file_url, language: "en" })
      return `/transcribe/${created.parse(await answer.json()).transcribe_id}`
    }

    /** Waits until a worker computes for the only transcription; its process id. */
    async function untilWorking(): Promise<number> {
      const before = new Map(workers().map((pid) => [pid, ticksOf(pid)]))
      const found = { pid: 0 }
      function isWorking(): boolean {
        const pid = workers().find((each) => ticksOf(each) > (before.get(each) ?? 0) + BUSY_TICKS)
        found.pid = pid ?? 0
        return pid !== undefined
      }
      await expect.poll(isWorking, { interval: POLL_MS, timeout: BUSY_TIMEOUT_MS }).toBe(true)
      return found.pid
    }

    /** Whether no worker computes for a while. */
    async function isIdle(): Promise<boolean> {
      const before = workers().map(ticksOf)
      await sleep(IDLE_MS)
      return workers().map(ticksOf).join(" ") === before.join(" ")
    }

    function workers(): number[] {
      return findSpeechWorkers(stage.service.pid)
    }

    it.each(
      selectCases<[string, (worker: number) => number | null]>(
        [["its worker", (worker) => worker]],
        [["the runner, whose worker goes with it,", () => findRunner(stage.service.pid)]],
      ),
    )("restarts when %s is killed, and has all words", async (_, victimOf) => {
      const path = await transcribe(story)
      const worker = await untilWorking()
      const victim = victimOf(worker)
      if (victim === null) throw new Error("there is no runner")
      process.kill(victim, "SIGKILL")
      await expect.poll(() => isAlive(worker), { timeout: GONE_MS }).toBe(false)
      const ended = await stage.readEnd(path, record)
      expect(ended).toMatchObject({ status: "success", attempts: 2 })
      expect(wordErrorRate(LONG_SPEECH_TEXT, ended.transcript ?? "")).toBeLessThanOrEqual(0.1)
    })

    it("is canceled at once, and leaves no busy process", async () => {
      const path = await transcribe(long)
      await untilWorking()
      const canceled = await stage.call(`${path.replace("transcribe", "jobs")}/cancel`, {
        method: "POST",
      })
      expect(canceled.status).toBe(200)
      expect(await stage.readEnd(path, record)).toMatchObject({
        status: "failed",
        error_code: "canceled",
      })
      await expect.poll(isIdle, { timeout: GONE_MS }).toBe(true)
      const next = await stage.readEnd(await transcribe(greeting), record)
      expect(next).toMatchObject({ status: "success", attempts: 1 })
    })
  },
)

/** Of processor time, by which a worker is more than just started. */
const BUSY_TICKS = 30

/** Processor time that a process has taken, in hundredths of a second; 0 where it is gone. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return 0
  }
}

function isAlive(pid: number): boolean {
  return ticksOf(pid) > 0
}
