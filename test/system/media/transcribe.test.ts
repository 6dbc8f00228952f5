import { readFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { runUnsandboxed, serviceToolPaths } from "../../../scripts/cli/client/media.ts"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import {
  SHORT_SPEECH_TEXT,
  generateSpeech,
  explainMissingSpeechTools,
} from "../../support/media/speech.ts"
import { wordErrorRate } from "../../support/media/word-error-rate.ts"
import { openSoundStage } from "./sound-stage.ts"
import type { SoundStage } from "./sound-stage.ts"

const LACK = await explainMissingSpeechTools()
const ERRORS_MAX = 0.1

const created = z.looseObject({ transcribe_id: z.uuid() })
const record = z.looseObject({
  id: z.uuid(),
  status: z.string(),
  error_code: z.string().optional(),
  file_id: z.uuid(),
  language: z.string().nullable(),
  transcript: z.string().nullish(),
  srt: z.url().optional(),
  vtt: z.url().optional(),
  json: z.url().optional(),
  txt: z.url().optional(),
  warnings: z.array(z.looseObject({ code: z.string() })),
})
const job = z.looseObject({
  id: z.uuid(),
  kind: z.literal("transcribe"),
  status: z.string(),
  outputs: z.array(z.looseObject({ url: z.url() })),
})
const transcript = z.looseObject({
  segments: z
    .array(
      z.looseObject({
        start: z.number(),
        end: z.number(),
        text: z.string(),
        words: z.array(
          z.looseObject({ start: z.number(), end: z.number(), confidence: z.number() }),
        ),
      }),
    )
    .min(1),
})

const SRT_CUE =
  /^(\d+)\n(\d\d:\d\d:\d\d,\d{3}) --> (\d\d:\d\d:\d\d,\d{3})\n(.{1,42}(?:\n.{1,42})?)$/
const VTT_CUE =
  /^(?:\d+\n)?(?:\d\d:)?\d\d:\d\d\.\d{3} --> (?:\d\d:)?\d\d:\d\d\.\d{3}\n.{1,42}(?:\n.{1,42})?$/

describe.skipIf(LACK !== null)(
  `a transcription${LACK === null ? "" : ` (skipped: ${LACK})`}`,
  () => {
    let stage: SoundStage
    let speech: string

    beforeAll(async () => {
      stage = await openSoundStage("transcribe")
      speech = await generateSpeech(stage.folder, { text: SHORT_SPEECH_TEXT })
    })

    afterAll(async () => await stage[Symbol.asyncDispose]())

    async function readAtEnd(answer: Response) {
      expect(answer.status).toBe(202)
      const { transcribe_id } = created.parse(await answer.json())
      return await stage.readEnd(`/transcribe/${transcribe_id}`, record)
    }

    async function read(url: string | undefined): Promise<string> {
      const answer = await stage.call(url ?? "")
      expect(answer.status).toBe(200)
      return await answer.text()
    }

    it("of an upload has its words in every format, and sends its webhook", async () => {
      const webhook = `${stage.receiver.origin}/transcribed`
      const shown = await readAtEnd(await stage.postFile("/transcribe", speech, { webhook }))
      expect(shown).toMatchObject({
        status: "success",
        language: "en",
        model: "base",
        task: "transcribe",
        format: "json",
        duration_seconds: expect.closeTo(5, 0),
        warnings: [],
      })
      expect(wordErrorRate(SHORT_SPEECH_TEXT, shown.transcript ?? "")).toBeLessThanOrEqual(
        ERRORS_MAX,
      )
      for (const format of ["srt", "vtt", "json", "txt"] as const) {
        expect(shown[format]).toMatch(RegExp(`/v1/transcribe/${shown.id}/transcript\\.${format}$`))
        const sent = await stage.call(shown[format] ?? "", { redirect: "manual" })
        expect(sent.status).toBe(302)
      }
      const { segments } = transcript.parse(JSON.parse(await read(shown.json)))
      const words = segments.flatMap((segment) => segment.words)
      expect(words.every(({ start, end }) => start <= end)).toBe(true)
      expect(wordErrorRate(SHORT_SPEECH_TEXT, await read(shown.txt))).toBeLessThanOrEqual(
        ERRORS_MAX,
      )
      const cues = (await read(shown.srt)).trimEnd().split("\n\n")
      expect(cues.map((cue) => SRT_CUE.exec(cue)?.[1])).toEqual(cues.map((_, at) => String(at + 1)))
      const [head, ...vttCues] = (await read(shown.vtt)).trimEnd().split("\n\n")
      expect(head).toMatch(/^WEBVTT/)
      expect(vttCues.filter((cue) => !VTT_CUE.test(cue))).toEqual([])
      const [told] = await stage.receiver.untilReceived(1)
      if (!told) throw new Error("no webhook")
      const again = await (await stage.call(`/transcribe/${shown.id}`)).json()
      expect(stage.verify(told)).toMatchObject({ type: "transcribe.succeeded", data: again })
    })

    it("of a URL leaves only the File when it is deleted", async () => {
      await using server = await startLoopbackServer((_, response) => {
        void readFile(speech).then((bytes) =>
          response.writeHead(200, { "content-type": "audio/wav" }).end(bytes),
        )
      })
      const body = { file_url: `${server.origin}/speech.wav`, language: "en-GB", format: "srt" }
      const shown = await readAtEnd(await stage.postJson("/transcribe", body))
      expect(shown).toMatchObject({ status: "success", language: "en-GB", format: "srt" })
      expect(wordErrorRate(SHORT_SPEECH_TEXT, shown.transcript ?? "")).toBeLessThanOrEqual(
        ERRORS_MAX,
      )
      const listed = z.array(record).parse(await (await stage.call("/transcribe")).json())
      expect(listed.map(({ id }) => id)).toContain(shown.id)
      const removed = await stage.call(`/transcribe/${shown.id}`, { method: "DELETE" })
      expect([removed.status, await removed.json()]).toEqual([200, {}])
      const answers = await Promise.all(
        [
          `/transcribe/${shown.id}`,
          shown.srt ?? "",
          shown.txt ?? "",
          `/files/${shown.file_id}`,
        ].map((path) => stage.call(path)),
      )
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200])
    })

    it("in the Job form is a Job whose first output is the requested format", async () => {
      const source = `svc_id://${await stage.upload(speech)}`
      const answer = await stage.postJson("/transcribe", {
        source,
        language: "auto",
        format: "vtt",
      })
      expect(answer.status).toBe(202)
      const made = z.intersection(created, job).parse(await answer.json())
      expect(made.transcribe_id).toBe(made.id)
      const ended = await stage.readEnd(`/jobs/${made.id}`, job)
      expect(ended.status).toBe("completed")
      const names = ended.outputs.map(({ url }) => url.slice(url.lastIndexOf(".") + 1))
      expect(names).toEqual(["vtt", "json", "srt", "txt"])
      expect(await read(ended.outputs[0]?.url)).toMatch(/^WEBVTT\n/)
    })

    it("has captions that ffmpeg renders, with lines of the requested length", async () => {
      const file_url = `svc_id://${await stage.upload(speech)}`
      const asked = { file_url, words_per_cue: 3, max_line_length: 12 }
      const shown = await readAtEnd(await stage.postJson("/transcribe", asked))
      for (const url of [shown.srt, shown.vtt]) {
        const path = await stage.download(url ?? "")
        const words = "-v error -show_entries packet=pts_time,duration_time -of json"
        const said = await runUnsandboxed(
          serviceToolPaths.ffprobe,
          [...words.split(" "), path],
          stage.folder,
        )
        const { packets } = z.object({ packets: z.array(z.unknown()) }).parse(JSON.parse(said))
        expect(packets.length).toBeGreaterThanOrEqual(5)
      }
      const lines = (await read(shown.srt)).split("\n").filter((line) => /[a-z]/i.test(line))
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(12)
    })
  },
)
