import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { sweepDirectly } from "../../support/sweep.ts"
import { makeOutputObjectKey } from "../../../src/domain/object-keys.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { makeFetchResult } from "../../support/media/fetched.ts"
import { countAccountData, NO_ACCOUNT_DATA } from "../../support/left-over.ts"
import { makeRenderResult } from "../../support/media/rendered.ts"
import {
  claimAndEndTask,
  findTaskByKind,
  readInputReadiness,
  readJob,
} from "../../support/runner/stand-in-runner.ts"
import type { ReportedTaskEnd } from "../../support/runner/stand-in-runner.ts"
import { readStoredWebhook } from "../../support/stored-webhook.ts"

const DAY_MS = 24 * 3_600_000
const HOOK = "https://receiver.example/"
const OUTPUTS = [
  { codec: "h265", resolution: "480p" },
  { codec: "h264", resolution: "720p", container: "mov" },
]

const accepted = z.looseObject({ id: z.uuid() })
const shownOutputs = z.array(z.looseObject({ url: z.string() }))

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID())
  accountId = await findCallerAccountId(caller)
})

async function create(changes: Record<string, unknown> = {}): Promise<string> {
  const transcode = { outputs: OUTPUTS }
  const answer = await caller.post("/fetch", {
    url: "https://video.example.com/watch?v=1",
    subtitles: ["en", "de"],
    transcode,
    ...changes,
  })
  expect(answer.status).toBe(202)
  return accepted.parse(await answer.json()).id
}

/** Ends one of a job's two tasks; its output is stored as by its runner. */
async function end(
  id: string,
  half: "fetch" | "render",
  how: ReportedTaskEnd,
  stored: string[] = [],
): Promise<void> {
  const task = await findTaskByKind(accountId, id, half)
  expect(await claimAndEndTask(task, how)).toBe("ok")
  const { fence } = await findTaskByKind(accountId, id, half)
  for (const key of stored) {
    await env.MEDIA.put(makeOutputObjectKey(accountId, { taskId: task.id, fence }, key), key)
  }
}

async function endFetch(id: string): Promise<void> {
  await end(id, "fetch", { result: makeFetchResult(["en"]) }, ["media", "subtitles_1"])
}

async function endRender(id: string): Promise<void> {
  const keys = ["out_1", "out_2"]
  await end(id, "render", { result: makeRenderResult(...keys) }, keys)
}

async function get(path: string): Promise<Record<string, unknown>> {
  const answer = await caller.call(path)
  expect(answer.status).toBe(200)
  return z.record(z.string(), z.unknown()).parse(await answer.json())
}

async function made(changes: Record<string, unknown> = {}): Promise<string> {
  const id = await create(changes)
  await endFetch(id)
  await endRender(id)
  return id
}

describe("a fetch with renditions", () => {
  it("encodes them after the media is stored, from a file of the media's name", async () => {
    const id = await create()
    const { id: renderId } = await findTaskByKind(accountId, id, "render")
    expect(await readInputReadiness(accountId, renderId)).toBe("pending")
    await endFetch(id)
    expect(await readInputReadiness(accountId, renderId)).toBe("ready")
    const { job, files } = await readJob(accountId, id)
    expect(job).toMatchObject({ state: "running", result: null })
    expect(files.find(({ outputKey }) => outputKey === "media")).toMatchObject({
      name: "A clip.mp4",
      state: "succeeded",
    })
    expect(await get(`/fetch/${id}`)).toMatchObject({ status: "running", subtitles: [] })
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: "processing", outputs: [] })
    expect((await caller.call(`/fetch/${id}/A%20clip.mp4`)).status).toBe(409)
  })

  it("is a Job whose outputs are the renditions, which are Files", async () => {
    const id = await made()
    const { outputs } = z.looseObject({ outputs: shownOutputs }).parse(await get(`/jobs/${id}`))
    expect(outputs).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "A clip_480p_h265.mp4",
        url: expect.stringMatching(/\/v1\/files\/[0-9a-f-]{36}\/A%20clip_480p_h265\.mp4$/),
        content_type: "video/mp4",
        codec: "h265",
        resolution: "640x360",
        duration_seconds: 1.5,
        size_bytes: 9,
        quality: { metric: "ssim", score: 0.97 },
      },
      expect.objectContaining({
        url: expect.stringMatching(/A%20clip_720p_h264\.mov$/),
        codec: "h264",
      }),
    ])
    for (const { url } of outputs) {
      const path = new URL(url).pathname.replace("/v1", "")
      const link = await caller.call(path)
      expect(link.status).toBe(302)
      const file = await get(path.split("/").slice(0, 3).join("/"))
      expect(file).toMatchObject({ source: "output", status: "success", download_url: url })
    }
    const listed = await caller.call("/jobs?kind=fetch")
    expect(await listed.json()).toMatchObject([{ id, status: "completed", outputs }])
    expect(await (await caller.call("/files")).json()).toHaveLength(2)
  })

  it("shows its media like any fetch, and its renditions", async () => {
    const id = await made()
    const base = `https://lathe.test/v1/fetch/${id}`
    const { outputs } = await get(`/jobs/${id}`)
    expect(await get(`/fetch/${id}`)).toMatchObject({
      status: "success",
      title: "A clip",
      content_type: "video/mp4",
      download_url: `${base}/A%20clip.mp4`,
      subtitles: [{ language: "en", url: `${base}/A%20clip.en.vtt` }],
      outputs,
    })
    expect((await caller.call(`/fetch/${id}/A%20clip.mp4`)).status).toBe(302)
    expect((await caller.call(`/fetch/${id}/A%20clip_480p_h265.mp4`)).status).toBe(404)
    const listed = z.array(z.looseObject({})).parse(await (await caller.call("/fetch")).json())
    expect(listed).toMatchObject([{ outputs }])
  })

  it.each([
    ["webhook_url", "jobs"],
    ["webhook", "fetch"],
  ])("sends its %s the response of GET /%s/{id}", async (field, room) => {
    const id = await made({ [field]: HOOK })
    const { type, body } = await readStoredWebhook(id)
    expect(type).toBe("fetch.succeeded")
    expect(body).toContain(`"data":${await (await caller.call(`/${room}/${id}`)).text()}}`)
  })

  it.each([
    ["fetch", "The fetch failed: It is not there."],
    ["render", "The transcode failed: It is not there."],
  ] as const)("names the failed part, %s", async (half, message) => {
    const id = await create()
    if (half === "render") await endFetch(id)
    const code = half === "fetch" ? "not_found" : "no_video"
    await end(id, half, { failure: { code, message: "It is not there." } })
    expect(await get(`/jobs/${id}`)).toMatchObject({
      status: "failed",
      error: { code, message },
      outputs: [],
    })
    expect(await get(`/fetch/${id}`)).toMatchObject({ error: message, error_code: code })
    const { tasks, files } = await readJob(accountId, id)
    expect(tasks.map(({ state }) => state)).not.toContain("waiting")
    expect(files.map(({ state }) => state)).not.toContain("waiting")
    await expectNothingStored()
  })

  it("removes its cookies at the end of the fetch", async () => {
    const id = await create({ cookies: ".a.example\tTRUE\t/\tFALSE\t0\tname\tvalue" })
    const count = env.DB.prepare("select count(*) as n from task_secrets where job_id = ?").bind(id)
    expect(await count.first("n")).toBe(1)
    await endFetch(id)
    expect(await count.first("n")).toBe(0)
    expect((await readJob(accountId, id)).job.state).toBe("running")
  })

  it("names the part that was tried too often", async () => {
    const id = await create()
    await endFetch(id)
    const failure = { code: "internal" as const, message: "It broke." }
    for (let tries = 0; tries < 3; tries += 1) await end(id, "render", { failure, blame: "ours" })
    const error = { code: "internal", message: "The transcode failed: It broke." }
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: "failed", error })
  })

  it("keeps the task's message for a fetch without renditions", async () => {
    const id = await create({ transcode: undefined })
    await end(id, "fetch", { failure: { code: "not_found", message: "It is not there." } })
    const error = { code: "not_found", message: "It is not there." }
    expect(await get(`/jobs/${id}`)).toMatchObject({ error })
  })

  it("is canceled as a whole during its second part", async () => {
    const id = await create()
    await endFetch(id)
    expect((await caller.call(`/jobs/${id}/cancel`, { method: "POST" })).status).toBe(200)
    const error = { code: "canceled", message: "The job was canceled." }
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: "failed", error })
    await expectNothingStored()
  })

  it("is repeated by a retry, both parts in order", async () => {
    const first = await made()
    const again = await caller.call(`/jobs/${first}/retry`, { method: "POST" })
    expect(again.status).toBe(202)
    const { id } = accepted.parse(await again.json())
    const render = await findTaskByKind(accountId, id, "render")
    expect(await readInputReadiness(accountId, render.id)).toBe("pending")
    const { tasks, files, inputs } = await readJob(accountId, id)
    expect(new Map(tasks.map(({ work, weight }) => [work.kind, weight]))).toEqual(
      new Map([
        ["fetch", 30],
        ["render", 70],
      ]),
    )
    const media = files.find(({ outputKey }) => outputKey === "media")
    expect(inputs).toMatchObject([{ taskId: render.id, key: "source", fileId: media?.id }])
    await endFetch(id)
    await endRender(id)
    const shown = await get(`/fetch/${id}`)
    expect(shown).toMatchObject({ status: "success", download_url: expect.any(String) })
    const { outputs } = await get(`/fetch/${first}`)
    expect(shown["outputs"]).toHaveLength(2)
    expect(shown["outputs"]).not.toEqual(outputs)
  })

  it("keeps its renditions when its fetched media is removed", async () => {
    const id = await made()
    const { outputs } = await get(`/fetch/${id}`)
    await age(id, 7 * DAY_MS)
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(env, Date.now())
    await expect.poll(async () => (await countAccountData(accountId)).objects).toBe(2)
    const shown = await get(`/fetch/${id}`)
    expect(shown).toMatchObject({ status: "success", subtitles: [], outputs })
    expect(shown).not.toHaveProperty("download_url")
    expect(await get(`/jobs/${id}`)).toMatchObject({ outputs })
    for (const { url } of shownOutputs.parse(outputs)) {
      expect((await caller.call(new URL(url).pathname.replace("/v1", ""))).status).toBe(302)
    }
  })

  it("keeps its fetched media while it runs, whatever the age of the media", async () => {
    const id = await create()
    await endFetch(id)
    await age(id, 8 * DAY_MS)
    for (let swept = 0; swept < 2; swept += 1) await sweepDirectly(env, Date.now())
    const { files } = await readJob(accountId, id)
    const media = files.find(({ outputKey }) => outputKey === "media")
    expect(media?.objectKey).not.toBeNull()
    expect(await env.MEDIA.head(media?.objectKey ?? "")).not.toBeNull()
  })

  it("is removed with all its files", async () => {
    const id = await made()
    expect((await caller.call(`/fetch/${id}`, { method: "DELETE" })).status).toBe(200)
    expect((await caller.call(`/jobs/${id}`)).status).toBe(404)
    await expect.poll(() => countAccountData(accountId)).toEqual(NO_ACCOUNT_DATA)
  })
})

/** Expects that the media of a fetch is removed with a job that made no rendition of it. */
async function expectNothingStored(): Promise<void> {
  await sweepDirectly(env, Date.now())
  await expect.poll(async () => (await countAccountData(accountId)).objects).toBe(0)
}

/** Moves the end times of a job and its files into the past. */
async function age(id: string, byMs: number): Promise<void> {
  await env.DB.batch(
    ["update jobs set completed_at = completed_at - ? where id = ?"]
      .concat("update files set completed_at = completed_at - ? where job_id = ?")
      .map((statement) => env.DB.prepare(statement).bind(byMs, id)),
  )
}
