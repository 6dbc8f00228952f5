import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { renderTaskDefinition } from "../../../src/contract/tasks/render.ts"
import { findCallerAccountId } from "../../support/media/bundle.ts"
import { makeCaller } from "../../support/caller.ts"
import type { TestCaller } from "../../support/caller.ts"
import { readProblem } from "../../support/problem.ts"
import {
  findTaskByKind,
  readInputReadiness,
  readJob,
} from "../../support/runner/stand-in-runner.ts"

const URL = "https://video.example.com/watch?v=1"
const HOOK = "https://receiver.example/"
const OUTPUTS = [{ codec: "h264", resolution: "480p" }]

const accepted = z.looseObject({ fetch_id: z.uuid() })

let caller: TestCaller
let accountId: string

beforeEach(async () => {
  caller = await makeCaller(crypto.randomUUID(), "paid")
  accountId = await findCallerAccountId(caller)
})

type Body = Record<string, unknown>

async function create(changes: Body, transcode: unknown = { outputs: OUTPUTS }) {
  return await caller.post("/fetch", { url: URL, transcode, ...changes })
}

async function createdId(changes: Body, transcode: Body = {}): Promise<string> {
  const answer = await create(changes, { outputs: OUTPUTS, ...transcode })
  expect(answer.status).toBe(202)
  return accepted.parse(await answer.json()).fetch_id
}

async function countJobs(): Promise<number | null> {
  const count = env.DB.prepare("select count(*) as n from jobs where account_id = ?")
  return await count.bind(accountId).first("n")
}

describe("POST /fetch with transcode", () => {
  it("returns the id and the Job", async () => {
    const answer = await create({ metadata: { mine: "1" } })
    expect(answer.status).toBe(202)
    const body = accepted.parse(await answer.json())
    expect(body).toMatchObject({ id: body.fetch_id, kind: "fetch", status: "queued", outputs: [] })
    expect(body).toMatchObject({ metadata: { mine: "1" } })
    expect(answer.headers.get("location")).toBe(`https://lathe.test/v1/fetch/${body.fetch_id}`)
    const shown = await (await caller.call(`/fetch/${body.fetch_id}`)).json()
    expect(shown).toMatchObject({ url: URL, quality: "best", status: "pending" })
    expect(shown).not.toHaveProperty("outputs")
  })

  it("plans the fetch, and renditions that wait for its media", async () => {
    const outputs = [
      { codec: "vp9", resolution: "720p", container: "webm", bitrate_kbps: 900 },
      { codec: "h265", resolution: "480p" },
    ]
    const id = await createdId({ subtitles: "en" }, { outputs, source: 7, quality_metrics: true })
    const { job, tasks, files, inputs } = await readJob(accountId, id)
    expect(tasks.map(({ pool, weight }) => [pool, weight])).toEqual([
      ["fetch", 30],
      ["media", 70],
    ])
    const render = await findTaskByKind(accountId, id, "render")
    expect(renderTaskDefinition.work.strict().parse(render.work)).toMatchObject({
      renditions: [
        { key: "out_1", codec: "vp9", resolution: "720p", container: "webm", bitrate_kbps: 900 },
        { key: "out_2", codec: "h265", resolution: "480p", container: "mp4" },
      ],
      measures_quality: true,
      outputs: [
        { key: "out_1", name: "out_1.webm" },
        { key: "out_2", name: "out_2.mp4" },
      ],
    })
    const media = files.find(({ outputKey }) => outputKey === "media")
    expect(inputs).toMatchObject([{ taskId: render.id, key: "source", fileId: media?.id }])
    expect(await readInputReadiness(accountId, render.id)).toBe("pending")
    expect(Object.fromEntries(files.map((file) => [file.outputKey, file.source]))).toEqual({
      media: "fetch",
      subtitles_1: "fetch",
      out_1: "output",
      out_2: "output",
    })
    expect(job.request).toEqual({
      url: URL,
      quality: "best",
      subtitles: ["en"],
      transcode: {
        outputs: [outputs[0], { ...outputs[1], container: "mp4" }],
        quality_metrics: true,
      },
    })
  })

  it.each<[string, Body, Body]>([
    ["outside", { webhook_url: HOOK, metadata: { a: "b" }, priority: 7 }, {}],
    ["inside", {}, { webhook_url: HOOK, metadata: { a: "b" }, priority: 7 }],
    [
      "inside, and outside as null",
      { metadata: null, webhook: null, webhook_url: null },
      { webhook_url: HOOK, metadata: { a: "b" }, priority: 7 },
    ],
  ])("accepts the fields of its job %s", async (_, outer, inner) => {
    const { job, tasks } = await readJob(accountId, await createdId(outer, inner))
    expect(job).toMatchObject({ priority: 7, metadata: { a: "b" }, webhookForm: "job" })
    expect(job.webhookUrl).toBe(HOOK)
    expect(tasks.map(({ priority }) => priority)).toEqual([7, 7])
    expect(JSON.stringify(job.request)).not.toContain("receiver")
  })

  it.each<[Body, Body]>([
    [{ webhook: HOOK }, {}],
    [{}, { webhook: HOOK }],
  ])("sends webhook the native record: %o, %o", async (outer, inner) => {
    const { job } = await readJob(accountId, await createdId(outer, inner))
    expect(job).toMatchObject({ webhookUrl: HOOK, webhookForm: "native", priority: 50 })
  })

  it("has its cookies only for the fetch", async () => {
    const cookies = ".a.example\tTRUE\t/\tFALSE\t0\tname\tvalue"
    const id = await createdId({ cookies })
    const rows = env.DB.prepare("select task_id from task_secrets where job_id = ?").bind(id)
    const fetching = await findTaskByKind(accountId, id, "fetch")
    expect((await rows.all()).results).toEqual([{ task_id: fetching.id }])
  })

  it("is one job for one Idempotency-Key", async () => {
    const headers = { "content-type": "application/json", "idempotency-key": "once" }
    async function send(resolution: string) {
      const transcode = { outputs: [{ codec: "h264", resolution }] }
      const body = JSON.stringify({ url: URL, transcode })
      return await caller.call("/fetch", { method: "POST", headers, body })
    }
    const first = accepted.parse(await (await send("480p")).json())
    expect(accepted.parse(await (await send("480p")).json()).fetch_id).toBe(first.fetch_id)
    expect((await send("720p")).status).toBe(409)
  })
})

describe("a body of POST /fetch in the Job form", () => {
  it.each<[RegExp, unknown, Body]>([
    [/^transcode: expected an object of fields; it is null$/, null, {}],
    [/^transcode: expected an object of fields; it is a string$/, "480p", {}],
    [/^transcode\.outputs: expected an array of renditions, such as `/, {}, {}],
    [/^transcode\.outputs: expected at least one rendition$/, { outputs: [] }, {}],
    [/^transcode\.outputs\.0\.container: expected mp4 or webm/, withContainer("vp9", "mov"), {}],
    [/^transcode\.nonsense: unknown field/, { outputs: OUTPUTS, nonsense: 1 }, {}],
    [/^transcode\.priority: expected a whole/, { outputs: OUTPUTS, priority: 101 }, {}],
    [/^transcode\.webhook: .*public host/, { outputs: OUTPUTS, webhook: "http://127.0.0.1/" }, {}],
    [/^transcode\.webhook_url: .*http/, { outputs: OUTPUTS, webhook_url: "nonsense" }, {}],
    [/^transcode\.metadata: expected an object/, { outputs: OUTPUTS, metadata: "a" }, {}],
    [/^transcode\.priority: .*not in both$/, { outputs: OUTPUTS, priority: 50 }, { priority: 50 }],
    [/^transcode\.metadata: .*not in both$/, { outputs: OUTPUTS, metadata: {} }, { metadata: {} }],
    [/^transcode\.webhook: .*not in both$/, { outputs: OUTPUTS, webhook: HOOK }, { webhook: HOOK }],
    [
      /^webhook_url: expected webhook_url or webhook, not both$/,
      { outputs: OUTPUTS, webhook: HOOK },
      { webhook_url: HOOK },
    ],
    [/^webhook_url: .*not both$/, { outputs: OUTPUTS, webhook: HOOK, webhook_url: HOOK }, {}],
    [
      /^quality: expected a quality other than audio with transcode/,
      { outputs: OUTPUTS },
      { quality: "audio" },
    ],
    [
      /^audio_format: expected no value with transcode/,
      { outputs: OUTPUTS },
      { audio_format: "mp3" },
    ],
    [/^url: expected a URL; it is 7$/, { outputs: OUTPUTS }, { url: 7 }],
    [/^url: .*public host/, { outputs: OUTPUTS }, { url: "http://127.0.0.1/" }],
    [/^url: .*; transcode\.outputs: /, { outputs: 7 }, { url: 7 }],
    [
      /^webhook_url: expected webhook_url or webhook/,
      undefined,
      { webhook: HOOK, webhook_url: HOOK },
    ],
    [/^webhook_url: .*public host/, undefined, { webhook_url: "http://127.0.0.1/" }],
    [/^quality: expected one of/, undefined, { webhook_url: HOOK, quality: "8k" }],
  ])("is refused with a 400 and the message %s", async (message, transcode, changes) => {
    const answer = await caller.post("/fetch", { url: URL, transcode, ...changes })
    expect(answer.status).toBe(400)
    const problem = await readProblem(answer)
    expect(problem.code).toBe("invalid_request")
    expect(problem.message).toMatch(message)
    expect(problem.details).not.toEqual([])
    expect(await countJobs()).toBe(0)
  })

  it("is refused in the same form for its query and its Idempotency-Key", async () => {
    const body = JSON.stringify({ url: URL, webhook_url: HOOK })
    const headers = { "content-type": "application/json", "idempotency-key": "not one" }
    const keyed = await caller.call("/fetch", { method: "POST", headers, body })
    expect(keyed.status).toBe(400)
    expect((await readProblem(keyed)).message).toMatch(/^Idempotency-Key: /)
    const asked = await caller.call("/fetch?nonsense=1", { method: "POST", headers, body })
    expect(asked.status).toBe(400)
    expect((await readProblem(asked)).message).toMatch(/^nonsense: unknown query parameter/)
  })

  it("is recognized by its fields; any other body is refused with a 422", async () => {
    const headers = { "content-type": "application/json" }
    for (const body of ["{", "[]", '"transcode"', JSON.stringify({ quality: "8k" })]) {
      caller = await makeCaller(crypto.randomUUID())
      for (const path of ["/fetch", "/fetch?nonsense=1"]) {
        const answer = await caller.call(path, { method: "POST", headers, body })
        expect([body, answer.status]).toEqual([body, 422])
        expect((await readProblem(answer)).details).not.toEqual([])
      }
    }
  })
})

function withContainer(codec: string, container: string) {
  return { outputs: [{ codec, container, resolution: "480p" }] }
}
