import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { makeChildEnvironment } from "../../../scripts/cli/environment.ts"
import { exchange, head, statusesIn } from "../security/raw-http.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const LIMIT = 40
const POLL = { timeout: 20_000, interval: 250 }
const COLUMNS = ["id", "key", "account", "plan", "name", "scopes", "created", "used", "expires"]
const run = promisify(execFile)
const made = z.looseObject({ id: z.string(), key: z.string() })

let service: TestService

beforeAll(async () => {
  service = await startService({ RUNNER_CAPACITY: "1", PAID_REQUESTS_PER_MINUTE: String(LIMIT) })
})

afterAll(async () => await service[Symbol.asyncDispose]())

async function keys(line: string): Promise<string> {
  const environment = { PORT: new URL(service.origin).port, STATE_DIR: service.stateDir }
  const { stdout } = await run(process.execPath, ["scripts/keys/main.ts", ...line.split(" ")], {
    env: { ...makeChildEnvironment(), ...environment },
  })
  return stdout.trim()
}

/** Columns of a key in the output of `keys list`. */
async function listed(id: string): Promise<Record<string, string>> {
  const line = (await keys("list")).split("\n").find((each) => each.includes(id))
  const cells = line?.trim().split(/ {2,}/) ?? []
  return Object.fromEntries(COLUMNS.map((name, index) => [name, cells[index] ?? ""]))
}

async function ask(key: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-api-key": key, "content-type": "application/json" }
  return await fetch(`${service.origin}/v1${path}`, { ...init, headers })
}

async function post(key: string, path: string, body: object) {
  return await ask(key, path, { method: "POST", body: JSON.stringify(body) })
}

async function statusOf(key: string): Promise<number> {
  const answer = await ask(key, "/files")
  await answer.body?.cancel()
  return answer.status
}

/** The id and the key that a command printed: in its first line and alone on its last. */
function readPrinted(text: string): { id: string; key: string } {
  const [sentence = "", key = ""] = text.split("\n")
  expect(key).toMatch(/^lathe_[0-9A-Za-z]{40}$/)
  return { id: /Key (\S+)/.exec(sentence)?.[1] ?? "", key }
}

describe("POST /v1/keys/{id}/rotate", () => {
  it("accepts a request without a body and a Content-Type, as curl sends it", async () => {
    const { id, key } = readPrinted(await keys("create --account curl"))
    const { host, port } = new URL(service.origin)
    const lines = [`POST /v1/keys/${id}/rotate HTTP/1.1`, `Host: ${host}`, `X-API-KEY: ${key}`]
    const answer = await exchange(Number(port), head(...lines, "Connection: close"))
    expect(statusesIn(answer)).toEqual([201])
  })
})

describe("npm run keys", () => {
  it("creates a key with a name, scopes and an expiry, and lists them with its last use", async () => {
    const line = "create --account shop --name ci --scopes read,write --expires 30"
    const { id, key } = readPrinted(await keys(line))
    expect(await listed(id)).toMatchObject({
      account: "shop",
      plan: "trial",
      name: "ci",
      scopes: "read,write",
      used: "-",
      expires: expect.stringMatching(/^\d{4}-.+Z$/),
    })
    expect(await statusOf(key)).toBe(200)
    expect((await ask(key, "/webhooks/secret")).status).toBe(403)
    await expect.poll(async () => (await listed(id))["used"], POLL).toMatch(/^\d{4}-.+Z$/)
  })

  it("rotates a key, which stays valid beside the new one for the overlap", async () => {
    const before = readPrinted(await keys("create --account shop --name old"))
    const after = readPrinted(await keys(`rotate ${before.id} --overlap 2`))
    expect([await statusOf(before.key), await statusOf(after.key)]).toEqual([200, 200])
    await expect.poll(() => statusOf(before.key), POLL).toBe(401)
    expect(await statusOf(after.key)).toBe(200)
    await expect(keys(`rotate ${before.id}`)).rejects.toMatchObject({
      stderr: expect.stringContaining(after.id),
    })
  })

  it("revokes a key, which is refused from then on, and fails for an unknown key", async () => {
    const { id, key } = readPrinted(await keys("create --account shop"))
    expect(await statusOf(key)).toBe(200)
    await keys(`revoke ${id}`)
    expect(await statusOf(key)).toBe(401)
    const unknown = crypto.randomUUID()
    await expect(keys(`rotate ${unknown}`)).rejects.toMatchObject({
      stderr: expect.stringContaining("No such key exists."),
    })
  })
})

describe("a key of an account", () => {
  it("expires on time, also for an open event stream", async () => {
    const admin = await service.makeKey("expiry")
    const job = await post(admin, "/commands", {
      ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 20 {{out_1}}",
      input_files: {},
      output_files: { out_1: "out.mp4" },
    })
    const { command_id: id } = z.object({ command_id: z.string() }).parse(await job.json())
    const expiresAt = Date.now() + 3000
    const body = { name: "short", expires_at: new Date(expiresAt).toISOString() }
    const { key } = made.parse(await (await post(admin, "/keys", body)).json())
    const stream = await ask(key, `/jobs/${id}/events`)
    expect(stream.status).toBe(200)
    // The job goes on, and the stream ends all the same.
    const text = await stream.text()
    expect(text).toContain("event: state")
    expect(text).not.toContain('"status":"completed"')
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt)
    expect(await statusOf(key)).toBe(401)
    expect((await ask(key, `/jobs/${id}/events`)).status).toBe(401)
    await post(admin, `/jobs/${id}/cancel`, {})
  })

  it("loses its event streams when it is revoked, even without an event of the job", async () => {
    const admin = await service.makeKey("quiet")
    // More than can run at once: the last one waits, and nothing is to be told of it.
    const jobs = await Promise.all(
      Array.from({ length: 3 }, () =>
        post(admin, "/commands", {
          ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 60 {{out_1}}",
          input_files: {},
          output_files: { out_1: "out.mp4" },
        }),
      ),
    )
    const answers = z.array(z.object({ command_id: z.string() }))
    const ids = answers.parse(await Promise.all(jobs.map((each) => each.json())))
    const body = { name: "watcher", scopes: ["read"] }
    const { id, key } = made.parse(await (await post(admin, "/keys", body)).json())
    const stream = await ask(key, `/jobs/${ids[2]?.command_id}/events`)
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader?.read()
    expect(first?.value).toContain("retry:")
    expect((await ask(admin, `/keys/${id}`, { method: "DELETE" })).status).toBe(200)
    let isOver = false
    void (async () => {
      while (!(await reader?.read())?.done) continue
      isOver = true
    })()
    await expect.poll(() => isOver).toBe(true)
    for (const { command_id } of ids) await post(admin, `/jobs/${command_id}/cancel`, {})
  })
})
