import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { app } from "../../../src/app.ts"
import { decompressText } from "../../../src/db/values/compressed-text.ts"
import { transcribeTaskDefinition } from "../../../src/contract/tasks/transcribe.ts"
import { makeCaller, uploadTestFile } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"
import { finishTranscription } from "../../support/media/transcribed.ts"

const URL = "https://media.example/talk.mp3"
const HOOK = "https://receiver.example/"
const MODELS = { WHISPER_MODEL: "/srv/models/base/", WHISPER_MODELS: "tiny.en, large-v3" }

const accepted = z.looseObject({ transcribe_id: z.uuid(), id: z.uuid(), status: z.string() })

type Body = Record<string, unknown>

let caller: TestCaller
let fileId: string
let file_url: string
const service = { ...env, ...MODELS }

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  fileId = (await uploadTestFile(caller, "talk.mp3", "sound")).id
  file_url = `svc_id://${fileId}`
})

/** Sends a request to a service with several models. */
function send(method: string, path: string, body?: Body, headers: Record<string, string> = {}) {
  const request = new Request(`https://lathe.test/v1${path}`, {
    method,
    headers: { "x-api-key": caller.key, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return app.fetch(request, service, createExecutionContext())
}

async function create(body: Body, headers: Record<string, string> = {}): Promise<Response> {
  return await send("POST", "/transcribe", body, headers)
}

async function createdId(body: Body): Promise<string> {
  return accepted.parse(await (await create(body)).json()).transcribe_id
}

async function workOf(body: Body) {
  const row = env.DB.prepare(
    "select work, pool from tasks where job_id = ? and work ->> 'kind' = 'transcribe'",
  ).bind(await createdId(body))
  const { work = "", pool } = (await row.first<{ work: string; pool: string }>()) ?? {}
  expect(pool).toBe("speech")
  return transcribeTaskDefinition.work.strict().parse(JSON.parse(work))
}

async function faultsOf(body: Body) {
  const answer = await create(body)
  expect(answer.status).toBe(422)
  return (await readProblem(answer)).details
}

async function countJobs(): Promise<number> {
  return z.array(z.unknown()).parse(await (await caller.call("/jobs?kind=transcribe")).json())
    .length
}

describe("POST /transcribe", () => {
  it.each(["file_url", "source"])("returns the id and the Job for %s", async (field) => {
    const answer = await create({ [field]: file_url, metadata: { mine: "1" } })
    expect(answer.status).toBe(202)
    const body = accepted.parse(await answer.json())
    expect(body).toMatchObject({
      id: body.transcribe_id,
      kind: "transcribe",
      status: "queued",
      outputs: [],
      metadata: { mine: "1" },
    })
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/transcribe/${body.id}`)
    expect(body).not.toHaveProperty("file_id")
    const shown = await send("GET", `/transcribe/${body.id}`)
    expect(await shown.json()).toMatchObject({
      id: body.id,
      status: "pending",
      file_id: fileId,
      language: null,
      model: "base",
      task: "transcribe",
      format: "json",
    })
  })

  it("also returns the record's fields for Prefer: wait", async () => {
    const answer = await create({ file_url, language: "iw" }, { prefer: "wait=0" })
    expect(await answer.json()).toMatchObject({
      file_id: fileId,
      language: "he",
      status: "queued",
    })
  })

  it("plans one task, with the requested format first", async () => {
    const captions = { words_per_cue: 5, max_line_length: 30, prompt: "Lathe" }
    const body = { file_url, language: "pt-BR", format: "vtt", task: "translate", ...captions }
    expect(await workOf(body)).toEqual({
      kind: "transcribe",
      model: "base",
      language: "pt",
      language_tag: "pt-BR",
      task: "translate",
      ...captions,
      run_seconds_max: 300,
      outputs: ["vtt", "json", "srt", "txt"].map((key) => ({ key, name: `transcript.${key}` })),
    })
    const plain = await workOf({ source: `https://lathe.test/v1/files/${fileId}/talk.mp3` })
    expect(plain.outputs.map(({ key }) => key)).toEqual(["json", "srt", "vtt", "txt"])
    expect(plain).toMatchObject({ language: "auto", task: "transcribe" })
    for (const field of Object.keys(captions)) expect(plain).not.toHaveProperty(field)
  })

  it.each([
    [{ model: "tiny.en" }, { model: "tiny.en", language: "en" }],
    [
      { model: "tiny.en", language: "en-GB" },
      { model: "tiny.en", language: "en" },
    ],
    [
      { model: "large-v3", language: "zh-yue" },
      { model: "large-v3", language: "yue" },
    ],
    [{ language: "AUTO" }, { model: "base", language: "auto" }],
    [{ language: "nb" }, { model: "base", language: "no" }],
  ])("plans %o as %o", async (asked, done) => {
    expect(await workOf({ file_url, ...asked })).toMatchObject(done)
  })

  it.each(["file_url", "source"])("imports a URL in %s, which becomes a File", async (field) => {
    const id = await createdId({ [field]: URL, webhook: HOOK })
    const tasks = env.DB.prepare("select work ->> 'kind' as kind from tasks where job_id = ?")
    const kinds = (await tasks.bind(id).all<{ kind: string }>()).results.map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(["import", "probe", "transcribe"])
    const { file_id } = z
      .object({ file_id: z.string() })
      .loose()
      .parse(await (await send("GET", `/transcribe/${id}`)).json())
    const file = await caller.call(`/files/${file_id}`)
    expect(await file.json()).toMatchObject({ source: "import", source_url: URL })
  })

  it("is one job for one Idempotency-Key, whatever the spelling", async () => {
    const headers = { "idempotency-key": "once" }
    const first = accepted.parse(await (await create({ file_url }, headers)).json())
    const again = await create({ format: "json", language: "auto", file_url }, headers)
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(accepted.parse(await again.json()).id).toBe(first.id)
    expect((await create({ source: file_url }, headers)).status).toBe(409)
    expect(await countJobs()).toBe(1)
  })

  it("lists only transcriptions, by status", async () => {
    const id = await createdId({ file_url })
    const other = await createdId({ source: file_url })
    await send("POST", `/jobs/${id}/cancel`)
    const members = z.array(z.looseObject({ id: z.string() }))
    async function list(query: string): Promise<string[]> {
      const answer = await send("GET", `/transcribe${query}`)
      return members.parse(await answer.json()).map((each) => each.id)
    }
    expect(await list("")).toEqual([other, id])
    expect(await list("?status=failed")).toEqual([id])
    expect(await list("?status=pending")).toEqual([other])
  })
})

describe("an invalid body", () => {
  it.each<[string, Body]>([
    ["file_url", { file_url: undefined }],
    ["file_url", { file_url: 7 }],
    ["file_url", { file_url: `https://a.example/${"x".repeat(8192)}` }],
    ["file_url", { file_url: "ftp://a.example/a.mp3" }],
    ["file_url", { file_url: "http://127.0.0.1/a.mp3" }],
    ["file_url", { file_url: "svc_id://nonsense" }],
    ["file_url", { file_url: `svc_id://${crypto.randomUUID()}` }],
    ["language", { language: "english" }],
    ["language", { language: "en_US" }],
    ["language", { language: 7 }],
    ["language", { language: "yue" }],
    ["language", { language: "de", model: "tiny.en" }],
    ["format", { format: "txt" }],
    ["task", { task: "sing" }],
    ["task", { task: "translate", model: "tiny.en" }],
    ["prompt", { prompt: "x".repeat(1001) }],
    ["words_per_cue", { words_per_cue: 0 }],
    ["words_per_cue", { words_per_cue: 51 }],
    ["words_per_cue", { words_per_cue: 1.5 }],
    ["max_line_length", { max_line_length: 9 }],
    ["max_line_length", { max_line_length: 121 }],
    ["model", { model: "huge" }],
    ["model", { model: 7 }],
    ["webhook", { webhook: "http://localhost/" }],
    ["webhook_url", { webhook_url: HOOK }],
    ["webhook_url", { webhook_url: HOOK, webhook: HOOK }],
    ["nonsense", { nonsense: 1 }],
  ])("names only %s in a 422: %o", async (field, changes) => {
    const faults = await faultsOf({ file_url, ...changes })
    expect(faults.map((fault) => fault.field)).toEqual([field])
    expect(await countJobs()).toBe(0)
  })

  it("names a prompt with half a character", async () => {
    const faults = await faultsOf({ file_url, prompt: "half of \ud83d" })
    expect(faults.map((fault) => fault.field)).toEqual(["prompt"])
  })

  it("gets the names of the models, and the expected values", async () => {
    const { message: models } = (await faultsOf({ file_url, model: "huge" }))[0] ?? {}
    expect(models).toBe("expected one of base, tiny.en, large-v3")
    const { message: cantonese } = (await faultsOf({ file_url, language: "yue" }))[0] ?? {}
    expect(cantonese).toBe(
      "expected zh, since the model base does not distinguish Cantonese from Chinese",
    )
    const english = await faultsOf({
      file_url,
      model: "tiny.en",
      language: "fr",
      task: "translate",
    })
    expect(english.map(({ message }) => message)).toEqual([
      "expected en or auto, since the model tiny.en knows only English",
      "expected transcribe, since the model tiny.en knows only English",
    ])
  })

  it("names all faults at once", async () => {
    const body = { language: "xx", format: "doc", words_per_cue: 99, model: "huge", webhook: "no" }
    const fields = (await faultsOf(body)).map(({ field }) => field)
    expect(fields.toSorted()).toEqual([...Object.keys(body), "file_url"].toSorted())
  })

  it("is refused with a transcript or fetched media as its input", async () => {
    const id = await createdId({ file_url })
    await finishTranscription(caller, id)
    const base = "https://lathe.test/v1"
    for (const [room, code] of [
      ["transcribe", "transcript_not_an_input"],
      ["fetch", "fetch_not_an_input"],
    ]) {
      const reference = `${base}/${room}/${id}/transcript.srt`
      expect(await faultsOf({ file_url: reference })).toMatchObject([{ field: "file_url", code }])
      const command = await send("POST", "/commands", {
        ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
        input_files: { in_1: reference },
        output_files: { out_1: "a.vtt" },
      })
      expect((await readProblem(command)).details).toMatchObject([{ code }])
    }
  })
})

describe("a body in the Job form", () => {
  it("accepts webhook_url, which is called like any webhook", async () => {
    const id = await createdId({ source: file_url, webhook_url: HOOK })
    const row = env.DB.prepare("select webhook_url, request from jobs where id = ?").bind(id)
    const { webhook_url, request } = (await row.first<Record<string, unknown>>()) ?? {}
    expect(webhook_url).toBe(HOOK)
    expect(decompressText(request)).not.toContain("receiver")
  })

  it.each<[RegExp, Body]>([
    [/^source: expected svc_id:/, { source: 7 }],
    [/^source: the account has no such file$/, { source: `svc_id://${crypto.randomUUID()}` }],
    [/^source: .*public host/, { source: "http://127.0.0.1/a.mp3" }],
    [/^source: expected exactly one of file_url, source, .* several$/, { file_url: URL }],
    [/^language: expected a language such as en or pt-BR/, { language: "xx" }],
    [/^format: expected one of json, srt, vtt$/, { format: "txt" }],
    [/^model: expected one of base, tiny\.en, large-v3$/, { model: "huge" }],
    [/^webhook_url: /, { webhook_url: "http://localhost/" }],
    [/^webhook_url: expected webhook_url or webhook/, { webhook: HOOK, webhook_url: HOOK }],
    [/^nonsense: unknown field; the known fields are `file_url`, /, { nonsense: 1 }],
    [/^format: .*; words_per_cue: /, { format: "txt", words_per_cue: 0 }],
  ])("is refused with a 400 and the message %s: %o", async (message, changes) => {
    const answer = await create({ source: file_url, ...changes })
    expect(answer.status).toBe(400)
    const problem = await readProblem(answer)
    expect(problem.code).toBe("invalid_request")
    expect(problem.message).toMatch(message)
    expect(problem.details).not.toEqual([])
    expect(await countJobs()).toBe(0)
  })

  it("gets the fault of its Idempotency-Key in the same form", async () => {
    const answer = await create({ source: file_url }, { "idempotency-key": "not one" })
    expect(answer.status).toBe(400)
    expect((await readProblem(answer)).message).toMatch(/^Idempotency-Key: /)
  })
})
