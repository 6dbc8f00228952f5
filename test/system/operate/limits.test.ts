import { afterAll, beforeAll, expect, it } from "vitest"
import { z } from "zod"
import { exchange, head, readProblem } from "../security/raw-http.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { countUploads } from "./state-rows.ts"

const CALLERS = 64
const WAITING_MAX = 5
const FETCHES_MAX = 3
const FILE_BYTES = 1000
const FILES_MAX = 20
/** Of one key. */
const UPLOADS_MAX = 16

const capabilities = z.looseObject({
  tools: z.record(z.string(), z.string().nullable()),
  plans: z.record(z.string(), z.record(z.string(), z.number())),
})
const usage = z.looseObject({ usage: z.looseObject({}), limits: z.looseObject({}) })

let service: TestService

beforeAll(async () => {
  service = await startService({
    RUNNER_CAPACITY: "1",
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1:9",
    TRIAL_WAITING_JOBS_MAX: String(WAITING_MAX),
    PAID_STORAGE_BYTES_MAX: String(FILE_BYTES * FILES_MAX),
    PAID_FETCHES_PER_DAY: String(FETCHES_MAX),
  })
})

afterAll(async () => await service[Symbol.asyncDispose]())

async function ask(key: string, method: string, path: string, body?: unknown): Promise<Response> {
  return await fetch(`${service.origin}/v1${path}`, {
    method,
    headers: {
      "x-api-key": key,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** A command that takes as long as what it makes is to be seen. */
function order(seconds: number) {
  return {
    ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${seconds} {{out_1}}`,
    input_files: {},
    output_files: { out_1: "out.mp4" },
  }
}

async function sendFile(key: string): Promise<Response> {
  const body = new FormData()
  body.append("file", new File(["x".repeat(FILE_BYTES)], "a.txt"))
  const headers = { "x-api-key": key }
  return await fetch(`${service.origin}/v1/files`, { method: "POST", headers, body })
}

async function accountOf(key: string) {
  return usage.parse(await (await ask(key, "GET", "/account")).json())
}

/** How often each status and code was answered. */
async function tally(answers: Response[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    const { code_name = "" } = z
      .looseObject({ code_name: z.string().optional() })
      .parse(await answer.json())
    const name = `${answer.status} ${code_name}`.trim()
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

it("jobs wait up to the limit while one runs, even if 64 callers create them simultaneously", async () => {
  const key = await service.makeKey("many jobs", "trial")
  const first = await (await ask(key, "POST", "/commands", order(60))).json()
  const { command_id } = z.looseObject({ command_id: z.string() }).parse(first)
  await expect
    .poll(async () => await (await ask(key, "GET", `/jobs/${command_id}`)).json(), {
      timeout: 20_000,
    })
    .toMatchObject({ status: "processing" })
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, () => ask(key, "POST", "/commands", order(60))),
  )
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers.get("retry-after")).toBe("10")
  expect(await tally(answers)).toEqual({
    "202": WAITING_MAX,
    "429 job_limit_exceeded": CALLERS - WAITING_MAX,
  })
  expect(await accountOf(key)).toMatchObject({
    limits: { waiting_jobs: WAITING_MAX },
    usage: { waiting_jobs: WAITING_MAX, running_jobs: 1 },
  })
  const [waiting] = z
    .array(z.looseObject({ id: z.string() }))
    .parse(await (await ask(key, "GET", "/jobs?status=queued&limit=1")).json())
  expect((await ask(key, "POST", `/jobs/${waiting?.id}/cancel`)).status).toBe(200)
  expect((await ask(key, "POST", "/commands", order(60))).status).toBe(202)
  const used = await (await ask(key, "GET", "/account/usage")).json()
  expect(used).toMatchObject([{ jobs: WAITING_MAX + 2, failed_jobs: 1, succeeded_jobs: 0 }])
})

it("files are stored up to the limit, even if 64 callers upload them simultaneously", async () => {
  const keys = await Promise.all(
    Array.from({ length: CALLERS / UPLOADS_MAX }, () => service.makeKey("many files", "paid")),
  )
  const [key = ""] = keys
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, (_, index) => sendFile(keys[index % keys.length] ?? "")),
  )
  expect(await tally(answers)).toEqual({
    "201": FILES_MAX,
    "403 storage_limit_exceeded": CALLERS - FILES_MAX,
  })
  const full = { limits: { storage_bytes: 20_000 }, usage: { storage_bytes: 20_000 } }
  expect(await accountOf(key)).toMatchObject(full)
  await expect.poll(() => countUploads(service.stateDir)).toBe(0)
  const announced = head(
    "POST /v1/files HTTP/1.1",
    `host: ${new URL(service.origin).host}`,
    `x-api-key: ${key}`,
    "content-type: multipart/form-data; boundary=x",
    `content-length: ${1024 ** 3}`,
  )
  const answer = await exchange(Number(new URL(service.origin).port), announced)
  expect(readProblem(answer)).toEqual([403, "storage_limit_exceeded"])
  const [file] = z
    .array(z.looseObject({ id: z.string() }))
    .parse(await (await ask(key, "GET", "/files?limit=1")).json())
  expect((await ask(key, "DELETE", `/files/${file?.id}`)).status).toBe(200)
  expect((await sendFile(key)).status).toBe(201)
  expect(await tally([await sendFile(key)])).toEqual({ "403 storage_limit_exceeded": 1 })
})

it("are told by GET /v1/capabilities without a key, with the versions of the runner's tools", async () => {
  const url = `${service.origin}/v1/capabilities`
  async function read(): Promise<Response> {
    const answer = await fetch(url)
    expect(answer.status).toBe(200)
    return answer
  }
  await expect
    .poll(async () => capabilities.parse(await (await read()).json()).tools["ffmpeg"])
    .toMatch(/^\d/)
  const answer = await read()
  const body = capabilities.parse(await answer.json())
  expect(body.tools["ffprobe"]).toMatch(/^\d/)
  expect(body.plans["trial"]).toMatchObject({ waiting_jobs: WAITING_MAX })
  expect(body.plans["paid"]).toMatchObject({
    storage_bytes: FILE_BYTES * FILES_MAX,
    fetches_per_day: FETCHES_MAX,
  })
  expect(body).toMatchObject({ sign_up: "closed", uploads: { body_bytes: null } })
  // The service of the tests has no notes of its ffmpeg.
  expect(body).toMatchObject({ ffmpeg: null, unknown: { ffmpeg: expect.any(String) } })
  const etag = answer.headers.get("etag") ?? ""
  const again = await fetch(url, { headers: { "if-none-match": etag } })
  expect([again.status, await again.text()]).toEqual([304, ""])
})
