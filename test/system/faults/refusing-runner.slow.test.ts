import type { IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import type { LoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { parseJson } from "../../../scripts/cli/parse-json.ts"
import { findRunner, readEnvironment } from "../../faults/processes.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const WAIT_SECONDS_MAX = 10
/** The sixth post comes 3.1 to 6.2 seconds after the first, and its call waits for ten. */
const HELD_AFTER_MS = 3000
const EXPIRED_MS_MAX = 40_000

const order = z.looseObject({
  task_id: z.string(),
  job_id: z.string(),
  work: z.looseObject({ outputs: z.array(z.looseObject({ name: z.string() })) }),
})
const record = z.looseObject({
  status: z.string(),
  started_at: z.string().nullable(),
  attempts: z.number(),
  error: z.looseObject({ code: z.string() }).optional(),
})

type Posted = { jobId: string; taskId: string; at: number }

/** Behaviour of the runner of these tests, by the name of a task's output. */
const MANNERS: Record<string, (response: ServerResponse, posted: Posted) => void> = {
  "busy.mp4": (response) => response.writeHead(409).end("busy"),
  "leaving.mp4": (response) => response.writeHead(503).end("leaving"),
  "silent.mp4": () => undefined,
  "late.mp4": (response, { jobId, at }) => {
    // A call that waits since then still does when the job expires.
    const isEarly = at - (postsOf(jobId)[0]?.at ?? 0) < HELD_AFTER_MS
    if (isEarly) response.writeHead(503).end("leaving")
    else held.push({ response, jobId })
  },
  "dying.mp4": (response) => {
    if (!hasDied) return accept(response)
    response.writeHead(503).end("leaving")
  },
}

const posts: Posted[] = []
const kills: { taskId: string; at: number }[] = []
const held: { response: ServerResponse; jobId: string }[] = []
let runner: LoopbackServer
let service: TestService
let key: string
let hasDied = false

beforeAll(async () => {
  runner = await startLoopbackServer((request, response) => void answer(request, response))
  service = await startService({
    RUNNER_ORIGIN: runner.origin,
    RUNNER_CAPACITY: "8",
    WAIT_SECONDS_MAX: String(WAIT_SECONDS_MAX),
  })
  key = await service.makeKey("refused", "paid")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await runner[Symbol.asyncDispose]()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const at = performance.now()
  if (request.method === "DELETE") {
    const taskId = /^\/tasks\/([^?]+)/.exec(request.url ?? "")?.[1] ?? ""
    kills.push({ taskId, at })
    return void response.end("{}")
  }
  if (request.method === "GET") return void response.writeHead(404).end()
  const { job_id: jobId, task_id: taskId, work } = order.parse(parseJson(body))
  const posted = { jobId, taskId, at }
  posts.push(posted)
  MANNERS[work.outputs[0]?.name ?? ""]?.(response, posted)
}

function accept(response: ServerResponse): void {
  response.writeHead(202).end(JSON.stringify({ boot: "the-runner-of-these-tests" }))
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const answered = await fetch(`${service.origin}/v1${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return await answered.json()
}

async function submit(name: string): Promise<{ id: string; at: number }> {
  const created = await call("POST", "/commands", {
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: name },
  })
  return { id: z.looseObject({ command_id: z.string() }).parse(created).command_id, at: now() }
}

async function read(id: string) {
  return record.parse(await call("GET", `/jobs/${id}`))
}

/** How the job was seen until it failed. */
async function untilFailed(id: string, timeoutMs: number) {
  const seen = new Set<string>()
  const failed = await pWaitFor(
    async () => {
      const found = await read(id)
      seen.add(`${found.status} ${found.attempts} ${found.started_at === null}`)
      return found.status === "failed" && pWaitFor.resolveWith(found)
    },
    { interval: 250, timeout: timeoutMs },
  )
  return { failed, seen: [...seen] }
}

function now(): number {
  return performance.now()
}

function postsOf(jobId: string): Posted[] {
  return posts.filter((each) => each.jobId === jobId)
}

function lastKillOf(taskId: string): number {
  return kills.findLast((each) => each.taskId === taskId)?.at ?? 0
}

describe.concurrent("a job whose task no runner takes", () => {
  it.each(["busy.mp4", "leaving.mp4", "silent.mp4"])(
    "is queued until it expires, and then leaves the runner: %s",
    async (name) => {
      const { id, at } = await submit(name)
      const { failed, seen } = await untilFailed(id, EXPIRED_MS_MAX)
      expect(failed).toMatchObject({ error: { code: "expired" }, started_at: null, attempts: 0 })
      expect(seen).toEqual(["queued 0 true", "failed 0 true"])
      expect(now() - at).toBeGreaterThan(WAIT_SECONDS_MAX * 1000 - 1000)
      const [first] = postsOf(id)
      const taskId = first?.taskId ?? ""
      await pWaitFor(() => lastKillOf(taskId) > (postsOf(id).at(-1)?.at ?? 0), { timeout: 20_000 })
      const count = postsOf(id).length
      await new Promise((resolve) => setTimeout(resolve, 4000))
      expect(postsOf(id)).toHaveLength(count)
    },
  )

  it("is killed if a runner accepts it after its end", async () => {
    const { id } = await submit("late.mp4")
    await untilFailed(id, EXPIRED_MS_MAX)
    const late = held.findLast(({ jobId }) => jobId === id)
    const taskId = postsOf(id)[0]?.taskId ?? ""
    const acceptedAt = now()
    expect(late?.response.destroyed).toBe(false)
    if (late) accept(late.response)
    await pWaitFor(() => lastKillOf(taskId) > acceptedAt, { timeout: 20_000 })
  })

  it("expires also after the death of a runner that had it", async () => {
    const { id } = await submit("dying.mp4")
    await pWaitFor(async () => (await read(id)).status === "processing", { timeout: 20_000 })
    const { started_at } = await read(id)
    expect(started_at).not.toBeNull()
    hasDied = true
    await announce("another-runner")
    const diedAt = now()
    const { failed, seen } = await untilFailed(id, EXPIRED_MS_MAX)
    expect(failed).toMatchObject({ error: { code: "expired" }, started_at, attempts: 1 })
    expect(seen).toEqual(["processing 1 false", "failed 1 false"])
    expect(now() - diedAt).toBeGreaterThan(WAIT_SECONDS_MAX * 1000 - 1000)
    expect(postsOf(id).length).toBeGreaterThan(2)
  })
})

/** Says that a runner's new process came up. */
async function announce(boot: string): Promise<void> {
  const { ANNOUNCE_TOKEN: token } = readEnvironment(findRunner(service.pid) ?? 0)
  const answered = await fetch(`${service.origin}/operator/runner-up`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ boot }),
  })
  expect(answered.status).toBe(200)
}
