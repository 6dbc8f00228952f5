import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import type { TranscribeResult } from "../../../src/contract/tasks/transcribe.ts"
import { sweepDirectly } from "../../support/sweep.ts"
import { readDeliveryBody } from "../../../src/db/values/hydrate.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { endOnlyTask } from "../../support/tasks.ts"
import {
  finishTranscription,
  makeTranscribeResult,
  makeTranscript,
} from "../../support/media/transcribed.ts"
import { readStoredWebhook } from "../../support/stored-webhook.ts"

const HOOK = "https://receiver.example/"
const DAY_MS = 24 * 3_600_000
const LONG = "Many words were said. ".repeat(2000)

const record = z.looseObject({ id: z.uuid(), file_id: z.uuid().optional() })

let caller: TestCaller
let fileId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  fileId = (await uploadTestFile(caller, "talk.mp3", "sound")).id
})

async function create(changes: Record<string, unknown> = {}): Promise<string> {
  const body = { file_url: `svc_id://${fileId}`, webhook: HOOK, ...changes }
  const answer = await caller.post("/transcribe", body)
  return z.object({ transcribe_id: z.uuid() }).parse(await answer.json()).transcribe_id
}

async function get(path: string) {
  return record.parse(await (await caller.call(path)).json())
}

async function list(path: string) {
  return z.array(record).parse(await (await caller.call(path)).json())
}

/** Runs a transcription to its end. */
async function transcribed(
  result: Partial<TranscribeResult> = {},
  changes: Record<string, unknown> = {},
) {
  const id = await create(changes)
  const objectKeys = await finishTranscription(caller, id, makeTranscribeResult(result))
  return { id, objectKeys, base: `https://lathe.test/v1/transcribe/${id}` }
}

async function deliveryOf(id: string): Promise<{ type: string; body: string | null }> {
  const found = await readStoredWebhook(id)
  return { type: found.type, body: await readDeliveryBody(env.MEDIA, found) }
}

async function rowsOf(id: string) {
  const rows = env.DB.prepare("select id, state, source from files where job_id = ?").bind(id)
  return (await rows.all<{ id: string; state: string; source: string }>()).results
}

describe("a transcription that succeeded", () => {
  it("has the transcript and its URLs", async () => {
    const { id, base } = await transcribed({ warnings: [] }, { format: "srt" })
    expect(await get(`/transcribe/${id}`)).toMatchObject({
      id,
      status: "success",
      file_id: fileId,
      language: "de",
      model: "base",
      task: "transcribe",
      format: "srt",
      total_processing_seconds: 1,
      transcript: "Guten Tag.",
      srt: `${base}/transcript.srt`,
      vtt: `${base}/transcript.vtt`,
      json: `${base}/transcript.json`,
      txt: `${base}/transcript.txt`,
      duration_seconds: 5.2,
      progress: 100,
    })
  })

  it.each([
    ["json", ["json", "srt", "vtt", "txt"]],
    ["srt", ["srt", "json", "vtt", "txt"]],
    ["vtt", ["vtt", "json", "srt", "txt"]],
  ])("is a Job whose first output is the requested %s", async (format, order) => {
    const { id, base } = await transcribed({}, { format })
    const job = await get(`/jobs/${id}`)
    expect(job).toMatchObject({ kind: "transcribe", status: "completed" })
    expect(job["outputs"]).toEqual(
      order.map((extension) => ({
        name: `transcript.${extension}`,
        url: `${base}/transcript.${extension}`,
        content_type: expect.any(String),
        size_bytes: makeTranscript(extension).length,
        ...(extension !== "txt" && { duration_seconds: 5.2 }),
      })),
    )
    expect((await list("/jobs?kind=transcribe")).map((each) => each.id)).toEqual([id])
  })

  it.each([
    ["small", "Guten Tag."],
    ["too long for a row", LONG],
  ])("sends its webhook the response of GET, with a text that is %s", async (_, text) => {
    const { id } = await transcribed({ text })
    const shown = await (await caller.call(`/transcribe/${id}`)).text()
    expect(JSON.parse(shown)).toMatchObject({ transcript: text })
    const { type, body } = await deliveryOf(id)
    expect(type).toBe("transcribe.succeeded")
    expect(body?.endsWith(`,"data":${shown}}`)).toBe(true)
  })

  it("is listed completely except for a text that is too long for a row", async () => {
    const { id, base } = await transcribed({ text: LONG })
    const short = await transcribed()
    expect(await list("/transcribe?status=success")).toMatchObject([
      { id: short.id, transcript: "Guten Tag." },
      { id, transcript: null, language: "de", srt: `${base}/transcript.srt` },
    ])
    expect((await caller.call(`/transcribe/${id}/transcript.txt`)).status).toBe(302)
  })

  it("without speech has an empty transcript, no language, and a warning", async () => {
    const warnings = [{ code: "no_speech" as const, message: "There is no speech in the sound." }]
    const { id } = await transcribed({ text: "", language: null, warnings })
    expect(await get(`/transcribe/${id}`)).toMatchObject({
      status: "success",
      transcript: "",
      language: null,
      warnings,
    })
  })

  it.each([
    [{}, "jw", "jv"],
    [{ language: "auto" }, "tl", "fil"],
    [{ language: "pt-br" }, "pt", "pt-BR"],
    [{ language: "nb", task: "translate" }, "no", "nb"],
  ])("of %o has, for whisper's %s, the language %s", async (asked, language, tag) => {
    const { id } = await transcribed({ language }, asked)
    expect(await get(`/transcribe/${id}`)).toMatchObject({ language: tag })
  })

  it("has transcripts that are neither listed as files nor usable as inputs", async () => {
    const { id } = await transcribed()
    const rows = await rowsOf(id)
    expect(rows.map(({ state, source }) => [state, source])).toEqual(
      Array.from({ length: 4 }, () => ["succeeded", "transcript"]),
    )
    expect((await list("/files")).map((file) => file.id)).toEqual([fileId])
    expect((await caller.call("/files?source=transcript")).status).toBe(422)
    for (const row of rows) {
      for (const path of [`/files/${row.id}`, `/files/${row.id}/transcript.srt`]) {
        expect((await caller.call(path)).status).toBe(404)
      }
      expect((await caller.call(`/files/${row.id}`, { method: "DELETE" })).status).toBe(404)
      const answer = await caller.post("/transcribe", { file_url: `svc_id://${row.id}` })
      expect(await answer.json()).toMatchObject({ details: [{ code: "no_such_file" }] })
    }
  })
})

describe("a retry of a transcription", () => {
  it("has the same request", async () => {
    const { id } = await transcribed({}, { language: "pt-BR", format: "vtt" })
    const again = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(again.status).toBe(202)
    const { id: second } = record.parse(await again.json())
    await finishTranscription(caller, second)
    expect(await get(`/transcribe/${second}`)).toMatchObject({
      status: "success",
      file_id: fileId,
      language: "pt-BR",
      format: "vtt",
    })
    const [first] = z
      .object({ outputs: z.array(z.looseObject({ url: z.string() })) })
      .parse(await get(`/jobs/${second}`)).outputs
    expect(first?.url).toBe(`https://lathe.test/v1/transcribe/${second}/transcript.vtt`)
    expect((await rowsOf(second)).every(({ source }) => source === "transcript")).toBe(true)
  })

  it("names the File that it imports again", async () => {
    const id = await create({ file_url: "https://media.example/talk.mp3" })
    await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    const before = await get(`/transcribe/${id}`)
    const again = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    const { id: second } = record.parse(await again.json())
    const { file_id } = await get(`/transcribe/${second}`)
    expect(file_id).not.toBe(before.file_id)
    expect(await get(`/files/${file_id ?? ""}`)).toMatchObject({ status: "pending" })
  })

  it("is refused if its File is removed, with a fault in its field", async () => {
    const { id } = await transcribed()
    await caller.call(`/files/${fileId}`, { method: "DELETE" })
    const again = await caller.call(`/jobs/${id}/retry`, { method: "POST" })
    expect(again.status).toBe(422)
    expect(await again.json()).toMatchObject({ details: [{ field: "file_url" }] })
  })
})

describe("a transcription that failed", () => {
  it("has its error, nothing to download, and a webhook", async () => {
    const id = await create()
    const failure = { code: "no_audio" as const, message: "The file has no sound." }
    await endOnlyTask(await findCallerAccountId(caller), id, { failure })
    const shown = await get(`/transcribe/${id}`)
    expect(shown).toMatchObject({
      status: "failed",
      error: "The file has no sound.",
      error_code: "no_audio",
      file_id: fileId,
      language: null,
    })
    for (const field of ["transcript", "srt", "vtt", "json", "txt", "duration_seconds"]) {
      expect(shown).not.toHaveProperty(field)
    }
    expect(await deliveryOf(id)).toMatchObject({ type: "transcribe.failed" })
    expect((await list("/files")).map((file) => file.id)).toEqual([fileId])
  })

  it("may be a canceled one", async () => {
    const id = await create()
    const canceled = await caller.call(`/jobs/${id}/cancel`, { method: "POST" })
    expect(await canceled.json()).toMatchObject({ status: "failed", error: { code: "canceled" } })
    expect(await get(`/transcribe/${id}`)).toMatchObject({ error_code: "canceled" })
  })
})

describe("transcripts", () => {
  it("are deleted with their transcription; its input stays", async () => {
    const { id, objectKeys } = await transcribed({ text: LONG })
    const removed = await caller.call(`/transcribe/${id}`, { method: "DELETE" })
    expect([removed.status, await removed.json()]).toEqual([200, {}])
    expect((await caller.call(`/transcribe/${id}`)).status).toBe(404)
    expect((await caller.call(`/transcribe/${id}/transcript.srt`)).status).toBe(404)
    for (const key of objectKeys) await expect.poll(() => env.MEDIA.head(key)).toBeNull()
    expect(await rowsOf(id)).toEqual([])
    expect(await get(`/files/${fileId}`)).toMatchObject({ name: "talk.mp3" })
  })

  it("do not expire before their record does", async () => {
    const { id, objectKeys } = await transcribed()
    const now = Date.now() + 30 * DAY_MS
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(env, now)
    expect(await env.MEDIA.head(objectKeys[0] ?? "")).not.toBeNull()
    expect((await caller.call(`/transcribe/${id}/transcript.srt`)).status).toBe(302)
  })

  it("are removed with an expired record", async () => {
    const { id, objectKeys } = await transcribed()
    const short = { ...env, JOB_DAYS_MAX: "1" }
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(short, Date.now() + 2 * DAY_MS)
    expect((await caller.call(`/transcribe/${id}`)).status).toBe(404)
    for (const key of objectKeys) expect(await env.MEDIA.head(key)).toBeNull()
    expect(await rowsOf(id)).toEqual([])
    expect((await caller.call(`/files/${fileId}`)).status).toBe(200)
  })
})
