import { once } from "node:events"
import { readdirSync, readlinkSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { listIdleWorkspaces, listUsedWorkspaces } from "../../support/runner/workspaces.ts"

/** Far less than its encode would go on. */
const KILLED_MS_MAX = 20_000
const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  progress: z.number().nullable(),
  completed_at: z.string().nullable(),
  error: z.looseObject({ code: z.string() }).optional(),
  retry_of: z.string().optional(),
  outputs: z.array(z.looseObject({ url: z.string() })),
})

let service: TestService
let key: string
const hooks = createServer()
const told: string[] = []

beforeAll(async () => {
  hooks.on("request", (request, response) => {
    request.on("data", (chunk) => told.push(String(chunk)))
    request.on("end", () => response.end())
  })
  hooks.listen(0, "127.0.0.1")
  await once(hooks, "listening")
  service = await startService({ RUNNER_CAPACITY: "1", ALLOWED_PRIVATE_HOSTS: hookHost() })
  key = await service.makeKey("jobs")
})

afterAll(async () => {
  hooks.close()
  await service[Symbol.asyncDispose]()
})

function hookHost(): string {
  const address = hooks.address()
  return `127.0.0.1:${isBound(address) ? address.port : 0}`
}

function isBound(address: ReturnType<typeof hooks.address>): address is AddressInfo {
  return typeof address === "object" && address !== null
}

async function call(method: string, path: string, more: RequestInit = {}): Promise<Response> {
  const headers = { "x-api-key": key, ...Object.fromEntries(new Headers(more.headers)) }
  return await fetch(`${service.origin}/v1${path}`, { ...more, method, headers })
}

/** Asks for a picture of so many seconds, made as slowly as it would be shown. */
async function encode(seconds: number, more: Record<string, unknown> = {}, prefer = "") {
  const answer = await call("POST", "/commands", {
    headers: { "content-type": "application/json", ...(prefer && { prefer }) },
    body: JSON.stringify({
      ffmpeg_command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t ${seconds} -c:v mpeg4 {{out_1}}`,
      input_files: {},
      output_files: { out_1: "out.mp4" },
      ...more,
    }),
  })
  const body = z.looseObject({ command_id: z.string() }).parse(await answer.json())
  return { answer, body, id: body.command_id }
}

async function read(id: string, prefer = "") {
  const answer = await call("GET", `/jobs/${id}`, prefer ? { headers: { prefer } } : {})
  return record.parse(await answer.json())
}

async function until(holds: () => unknown, timeoutMs = KILLED_MS_MAX): Promise<void> {
  const since = performance.now()
  while (!(await holds())) {
    if (performance.now() - since > timeoutMs) throw new Error("the state was not reached in time")
    await sleep(20)
  }
}

/** Processes that work in a workspace of this service. */
function processesAtWork(): string[] {
  const work = join(service.stateDir, "work")
  const idle = listIdleWorkspaces(work)
  return readdirSync("/proc").filter((name) => {
    try {
      const folder = readlinkSync(join("/proc", name, "cwd"))
      return folder.startsWith(`${work}/`) && !idle.has(folder)
    } catch {
      return false
    }
  })
}

function workspaces(): string[] {
  return listUsedWorkspaces(join(service.stateDir, "work"))
}

async function untilEncoding(): Promise<void> {
  await until(() => processesAtWork().length > 0)
}

async function untilIdle(): Promise<void> {
  await until(() => processesAtWork().length === 0 && workspaces().length === 0)
}

async function uploadNoise(): Promise<string> {
  const form = new FormData()
  form.set("file", new Blob([new Uint8Array(1000)]), "noise.mp4")
  const answer = await call("POST", "/files", { body: form, headers: { prefer: "wait=20" } })
  expect(answer.status).toBe(201)
  expect(answer.headers.get("preference-applied")).toBe("wait=20")
  return z.looseObject({ id: z.string() }).parse(await answer.json()).id
}

/** The events of a stream up to its end. */
async function readEvents(id: string, lastEventId = "") {
  const headers = lastEventId ? { "last-event-id": lastEventId } : {}
  const answer = await call("GET", `/jobs/${id}/events`, { headers })
  const blocks = (await answer.text()).split("\n\n").filter((block) => block.startsWith("event:"))
  const events = blocks.map((block) => {
    const [, event, eventId, data] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(block) ?? []
    return { event, id: eventId ?? "", job: record.parse(JSON.parse(data ?? "")) }
  })
  return { answer, events }
}

describe("POST /jobs/{id}/cancel", () => {
  it("ends a running encode and its process at once, and leaves no workspace", async () => {
    const { id } = await encode(60)
    await untilEncoding()
    const answer = await call("POST", `/jobs/${id}/cancel`)
    expect(answer.status).toBe(200)
    expect(record.parse(await answer.json())).toMatchObject({
      status: "failed",
      error: { code: "canceled" },
      outputs: [],
    })
    await untilIdle()
    expect((await call("POST", `/jobs/${id}/cancel`)).status).toBe(409)
  })

  it("ends a waiting job and leaves the one before it alone", async () => {
    const first = await encode(3)
    await untilEncoding()
    const second = await encode(3)
    expect(await read(second.id)).toMatchObject({ status: "queued" })
    expect((await call("POST", `/jobs/${second.id}/cancel`)).status).toBe(200)
    expect(await read(first.id, "wait=20")).toMatchObject({ status: "completed" })
    expect(await read(second.id)).toMatchObject({ status: "failed", error: { code: "canceled" } })
  })

  it("wakes requests that wait for the job", async () => {
    const { id } = await encode(60)
    const waiting = read(id, "wait=30")
    await untilEncoding()
    await call("POST", `/jobs/${id}/cancel`)
    expect(await waiting).toMatchObject({ status: "failed", error: { code: "canceled" } })
    await untilIdle()
  })
})

describe("DELETE of a job", () => {
  it.each(["jobs", "commands"])("under /%s stops a running job and sends its end", async (room) => {
    const { id } = await encode(60, { webhook: `http://${hookHost()}/` })
    await untilEncoding()
    const answer = await call("DELETE", `/${room}/${id}`)
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    await untilIdle()
    expect((await call("GET", `/jobs/${id}`)).status).toBe(404)
    await until(() => told.some((body) => body.includes("canceled") && body.includes(id)))
  })
})

describe("POST /jobs/{id}/retry", () => {
  async function retry(id: string) {
    const headers = { prefer: "wait=20" }
    const answer = await call("POST", `/jobs/${id}/retry`, { headers })
    expect(answer.status).toBe(202)
    const job = record.parse(await answer.json())
    expect(answer.headers.get("location")).toBe(`${service.origin}/v1/jobs/${job.id}`)
    expect(job).toMatchObject({ retry_of: id })
    expect(job.id).not.toBe(id)
    return job
  }

  it("repeats a successful command, although its output was deleted", async () => {
    const { id } = await encode(1, { metadata: { scene: "4" } })
    const [made] = (await read(id, "wait=20")).outputs
    const fileId = new URL(made?.url ?? "").pathname.split("/")[3]
    expect((await call("DELETE", `/files/${fileId}`)).status).toBe(200)
    const job = await retry(id)
    expect(job).toMatchObject({ status: "completed", metadata: { scene: "4" } })
    expect(job.outputs[0]?.url).not.toBe(made?.url)
  })

  it("repeats a failed command, with its inputs", async () => {
    const fileId = await uploadNoise()
    const { id } = await encode(1, {
      ffmpeg_command: "ffmpeg -i {{in_1}} {{out_1}}",
      input_files: { in_1: `svc_id://${fileId}` },
    })
    const before = await read(id, "wait=20")
    const job = await retry(id)
    expect(job).toMatchObject({ status: "failed", error: before.error })
    expect((await call("DELETE", `/files/${fileId}`)).status).toBe(200)
    const refused = await call("POST", `/jobs/${id}/retry`)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ details: [{ field: "input_files.in_1" }] })
  })
})

describe("GET /jobs/{id}/events", () => {
  it("sends states and a rising progress until the end, without repetition", async () => {
    const { id } = await encode(4)
    const { answer, events } = await readEvents(id)
    expect(answer.headers.get("content-type")).toContain("text/event-stream")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("x-accel-buffering")).toBe("no")
    const statuses = events.filter(({ event }) => event === "state").map(({ job }) => job.status)
    expect(statuses.at(-1)).toBe("completed")
    expect(new Set(statuses).size).toBe(statuses.length)
    const percents = events.map(({ job }) => job.progress ?? 0)
    expect(events.filter(({ event }) => event === "progress").length).toBeGreaterThan(2)
    expect(percents).toEqual(percents.toSorted((one, other) => one - other))
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)

    const last = await readEvents(id, events.at(-1)?.id)
    expect([last.answer.status, last.events]).toEqual([204, []])
    const missed = await readEvents(id, events.at(-2)?.id)
    expect(missed.events).toEqual(events.slice(-1))
  })

  it("resumes from Last-Event-ID while the job runs", async () => {
    const { id } = await encode(4)
    const answer = await call("GET", `/jobs/${id}/events`)
    let text = ""
    const body: ReadableStream<Uint8Array> | null = answer.body
    for await (const chunk of body ?? []) {
      text += new TextDecoder().decode(chunk)
      if (text.includes("event: progress")) break
    }
    const ids = Array.from(text.matchAll(/^id: (.*)$/gm), ([, eventId]) => eventId ?? "")
    const { events } = await readEvents(id, ids.at(-1))
    expect(events.some((event) => ids.includes(event.id))).toBe(false)
    expect(events.at(-1)).toMatchObject({ event: "state", job: { status: "completed" } })
    expect(events.filter(({ event }) => event === "state")).toHaveLength(1)
  })
})

describe("Prefer: wait", () => {
  it("answers a create when its job ends, without delay", async () => {
    const { answer, body, id } = await encode(1, {}, "wait=30")
    const answeredAt = Date.now()
    expect(answer.status).toBe(202)
    expect(answer.headers.get("preference-applied")).toBe("wait=30")
    expect(body).toMatchObject({ id, status: "success", progress: 100 })
    const endedAt = Date.parse(z.string().parse(body["completed_at"]))
    expect(answeredAt - endedAt).toBeLessThan(15_000)
  })

  it.each(["jobs", "commands"])("answers GET /%s/{id} in time with what there is", async (room) => {
    const { id } = await encode(60)
    const since = performance.now()
    const answer = await call("GET", `/${room}/${id}`, { headers: { prefer: "wait=1" } })
    const tookMs = performance.now() - since
    expect(await answer.json()).toMatchObject({ id, completed_at: null })
    expect(answer.headers.get("preference-applied")).toBe("wait=1")
    expect(tookMs).toBeGreaterThan(950)
    expect(tookMs).toBeLessThan(15_000)
    expect((await call("DELETE", `/jobs/${id}`)).status).toBe(200)
    await untilIdle()
  })
})

describe("lists of jobs", () => {
  it("find what a caller marked, also beside a state, and Files by their name", async () => {
    const { id } = await encode(0.2, { metadata: { order: "a 42" } }, "wait=20")
    const other = await encode(0.2, { metadata: { order: "43" } }, "wait=20")
    const listed = z.array(z.looseObject({ id: z.string() }))
    async function idsOf(path: string): Promise<string[]> {
      return listed.parse(await (await call("GET", path)).json()).map((row) => row.id)
    }
    const filter = "metadata.order=a%2042"
    expect(await idsOf(`/commands?${filter}`)).toEqual([id])
    expect(await idsOf(`/jobs?${filter}&status=completed&kind=command`)).toEqual([id])
    expect(await idsOf(`/jobs?${filter}&status=failed`)).toEqual([])
    const files = await idsOf("/files?name=out.mp4&source=output&limit=2")
    expect(files).toHaveLength(2)
    await call("DELETE", `/jobs/${id}`)
    expect(await idsOf(`/jobs?${filter}`)).toEqual([])
    expect(await idsOf("/jobs?metadata.order=43")).toEqual([other.id])
  })
})
