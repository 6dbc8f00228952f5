import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { fetchTaskDefinition } from "../../../src/contract/tasks/fetch.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"

const URL = "https://video.example.com/watch?v=1"

const accepted = z.looseObject({ fetch_id: z.uuid(), id: z.uuid(), status: z.string() })

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("fetches", "paid")
})

async function create(body: Record<string, unknown>, headers: Record<string, string> = {}) {
  const by = await makeCaller(crypto.randomUUID())
  return await by.call("/fetch", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
}

async function faultsOf(body: Record<string, unknown>) {
  const answer = await create(body)
  expect(answer.status).toBe(422)
  return (await readProblem(answer)).details
}

async function workOf(body: Record<string, unknown>) {
  const { fetch_id } = accepted.parse(await (await create(body)).json())
  const row = env.DB.prepare("select work, pool from tasks where job_id = ?").bind(fetch_id)
  const { work = "", pool } = (await row.first<{ work: string; pool: string }>()) ?? {}
  expect(pool).toBe("fetch")
  return fetchTaskDefinition.work.strict().parse(JSON.parse(work))
}

describe("POST /fetch", () => {
  it("returns the id and the Job", async () => {
    const answer = await create({ url: URL, metadata: { mine: "1" } })
    expect(answer.status).toBe(202)
    const body = accepted.parse(await answer.json())
    expect(body).toMatchObject({
      id: body.fetch_id,
      kind: "fetch",
      status: "queued",
      outputs: [],
      metadata: { mine: "1" },
    })
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/fetch/${body.fetch_id}`)
    expect(body).not.toHaveProperty("url")
  })

  it("also returns the record's fields for Prefer: wait", async () => {
    const answer = await create({ url: URL, quality: "720p" }, { prefer: "wait=0" })
    expect(await answer.json()).toMatchObject({
      url: URL,
      quality: "720p",
      subtitles: [],
      status: "queued",
    })
  })

  it("plans one task, and its files", async () => {
    const work = await workOf({ url: `${URL}#part`, subtitles: ["en", "pt-BR", "EN"], end: 2.5 })
    expect(work).toEqual({
      kind: "fetch",
      url: URL,
      quality: "best",
      subtitles: ["EN", "pt-BR"],
      end: 2.5,
      bytes_max: 30 * 1024 * 1024,
      run_seconds_max: 300,
      outputs: ["media", "subtitles_1", "subtitles_2"].map((key) => ({ key, name: key })),
    })
  })

  it("fetches only the audio for an audio format", async () => {
    expect(await workOf({ url: URL, audio_format: "mp3", subtitles: "en" })).toMatchObject({
      quality: "audio",
      audio_format: "mp3",
      subtitles: ["en"],
    })
  })

  it.each([
    ["url", {}],
    ["url", { url: 7 }],
    ["url", { url: `https://a.example/${"x".repeat(8192)}` }],
    ["quality", { url: URL, quality: "8k" }],
    ["audio_format", { url: URL, audio_format: "mp3", quality: "720p" }],
    ["audio_format", { url: URL, audio_format: "wma" }],
    ["subtitles", { url: URL, subtitles: Array.from({ length: 11 }, (_, i) => `a${i}`) }],
    ["subtitles.0", { url: URL, subtitles: ["not a tag"] }],
    ["start", { url: URL, start: -1 }],
    ["end", { url: URL, end: 0 }],
    ["end", { url: URL, start: 3, end: 3 }],
    ["cookies", { url: URL, cookies: "no cookies" }],
    ["nonsense", { url: URL, nonsense: 1 }],
    ["webhook", { url: URL, webhook: "http://localhost/" }],
  ])("names the fault of %s", async (field, body) => {
    const faults = await faultsOf(body)
    expect(faults.map((fault) => fault.field)).toContain(field)
  })

  it.each([
    ["ftp://a.example/", "http or https"],
    ["http://127.0.0.1/", "public host"],
    ["http://metadata.google.internal/", "public host"],
    ["https://user:pass@a.example/", "without a user"],
    ["https://a.example:25/", "port"],
    ["https://lathe.test/v1/files/x/a.mp4", "this service"],
    ["nonsense", "http or https"],
  ])("refuses to fetch %s", async (url, message) => {
    const [fault, ...others] = await faultsOf({ url })
    expect(others).toEqual([])
    expect(fault).toMatchObject({ field: "url", code: "url_not_allowed" })
    expect(fault?.message).toContain(message)
  })

  it("names all faults at once, and never a cookie", async () => {
    const cookies = "a.example\tTRUE\t/\tFALSE\t0\tname\tvery-s3cret"
    const answer = await create({ url: "http://10.0.0.1/", quality: 1, start: 5, end: 1, cookies })
    const text = await answer.text()
    expect(text).not.toContain("very-s3cret")
    const { details } = z
      .object({ details: z.array(z.object({ field: z.string() })) })
      .parse(JSON.parse(text))
    expect(details.map(({ field }) => field).toSorted()).toEqual([
      "cookies",
      "end",
      "quality",
      "url",
    ])
  })
})

describe("GET /fetch", () => {
  it("lists only fetches, newest first, by status and page", async () => {
    const ids = []
    for (let made = 0; made < 3; made += 1) {
      const answer = await caller.post("/fetch", { url: URL })
      ids.unshift(accepted.parse(await answer.json()).fetch_id)
    }
    const page = await caller.call("/fetch?limit=2&status=pending")
    const members = z.array(z.looseObject({ id: z.string(), url: z.string() }))
    expect(members.parse(await page.json()).map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(page.headers.get("link")).toContain('rel="next"')
    expect(await (await caller.call("/fetch?status=success")).json()).toEqual([])
  })
})
