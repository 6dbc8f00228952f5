import { once } from "node:events"
import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { listKeysAsOperator, revokeKeyAsOperator } from "../../../scripts/keys/operator.ts"
import { openAccount } from "../../corpus/account.ts"
import type { Account } from "../../corpus/account.ts"
import { makeMarker } from "../../corpus/canaries.ts"
import { findWorkerd, killAll } from "../../faults/processes.ts"
import { exchange, head, statusesIn } from "./raw-http.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const MIB = 1024 * 1024
const AWAY_MS_MAX = 20_000

const content = makeMarker()
let service: TestService
let port: number
let key: string
let account: Account

beforeAll(async () => {
  service = await startService()
  port = Number(new URL(service.origin).port)
  key = await service.makeKey("one", "paid")
  account = openAccount(service.origin, key)
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

function own(): string {
  return `Host: 127.0.0.1:${port}`
}

test("pipelined requests are answered in order", async () => {
  const heads = ["/v1/health", "/v1/nothing", "/v1/openapi.json", "/nothing", "/v1/health"]
  const sent = heads.map((path) => head(`GET ${path} HTTP/1.1`, own())).join("")
  expect(statusesIn(await exchange(port, sent, { silenceMs: 5000 }))).toEqual([
    200, 401, 200, 404, 200,
  ])
})

test("a request is answered although malformed bytes follow", async () => {
  const answer = await exchange(port, `${head("GET /v1/health HTTP/1.1", own())}\x00\x01`)
  expect(statusesIn(answer)[0]).toBe(200)
  expect(statusesIn(answer)).not.toContain(500)
})

test("a request for an upgrade is answered without one", async () => {
  const heads = [own(), "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
  const answer = await exchange(port, head("GET /v1/health HTTP/1.1", ...heads))
  expect(statusesIn(answer)).toEqual([200])
})

test.for(["HEAD", "OPTIONS", "PATCH", "TRACE", "PURGE", "QUERY"])(
  "a caller uses the method %s, and the response shows whether it is allowed",
  async (method) => {
    const answer = await exchange(port, head(`${method} /v1/health HTTP/1.1`, own()))
    expect(statusesIn(answer)).toEqual([method === "HEAD" ? 200 : 405])
    expect(answer.split("\r\n\r\n")[1] === "").toBe(method === "HEAD")
  },
)

test("a 100 Continue is sent only to a request with a valid key", async () => {
  const statuses = []
  for (const sent of [key, "none"]) {
    const outgoing = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/v1/commands/validate",
      headers: {
        expect: "100-continue",
        "content-type": "application/json",
        "content-length": "2",
        "x-api-key": sent,
      },
    })
    let mayContinue = false
    outgoing.once("continue", () => {
      mayContinue = true
      outgoing.end("{}")
    })
    outgoing.flushHeaders()
    const [response] = z
      .tuple([z.custom<IncomingMessage>()])
      .parse(await once(outgoing, "response"))
    await text(response)
    outgoing.destroy()
    statuses.push([mayContinue, response.statusCode])
  }
  expect(statuses).toEqual([
    [true, 200],
    [false, 401],
  ])
})

test("a caller uploads in chunks, and downloads the whole, a range and a head", async () => {
  const form = new FormData()
  form.append("file", new Blob([content]), "a.txt")
  const encoded = new Response(form)
  const made = await fetch(`${service.origin}/v1/files`, {
    method: "POST",
    headers: {
      "x-api-key": key,
      prefer: "wait=30",
      "content-type": encoded.headers.get("content-type") ?? "",
    },
    body: encoded.body,
    duplex: "half",
  })
  const { id, name } = z.looseObject({ id: z.string(), name: z.string() }).parse(await made.json())
  const link = await account.call(`/files/${id}/${name}`, { redirect: "manual" })
  const { pathname } = new URL(link.headers.get("location") ?? "", service.origin)
  const url = service.origin + pathname
  expect(await (await fetch(url)).text()).toBe(content)
  const range = await fetch(url, { headers: { range: "bytes=2-5" } })
  expect([range.status, await range.text()]).toEqual([206, content.slice(2, 6)])
  const only = await fetch(url, { method: "HEAD" })
  expect(only.headers.get("content-length")).toBe(String(content.length))
})

test("a caller reads events, and waits for a job", async () => {
  const id = await account.start({
    ffmpeg_command: "ffmpeg -f lavfi -i testsrc=size=64x64:rate=10 -t 1 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  const events = await account.call(`/jobs/${id}/events`)
  expect(events.headers.get("content-type")).toContain("text/event-stream")
  expect(await events.text()).toContain('"completed"')
  const waited = await account.call(`/commands/${id}`, { headers: { prefer: "wait=20" } })
  expect(await waited.json()).toMatchObject({ status: "success" })
})

test("a refusal is sent before the body arrives", async () => {
  const lines = [own(), "Content-Type: application/json", "Content-Length: 10"]
  const answer = await exchange(port, head("POST /v1/commands HTTP/1.1", ...lines))
  expect(statusesIn(answer)).toEqual([401])
})

test("an event stream ends when its key is revoked", async () => {
  const revoked = await service.makeKey("revoked", "paid")
  const theirs = openAccount(service.origin, revoked)
  const id = await theirs.start({
    ffmpeg_command: "ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 8 {{out_1}}",
    input_files: {},
    output_files: { out_1: "out.mp4" },
  })
  const events = (await theirs.call(`/jobs/${id}/events`)).text()
  const listed = await listKeysAsOperator(service.operator)
  const own = listed.find(({ account: name }) => name === "revoked")
  await revokeKeyAsOperator(service.operator, own?.id ?? "")
  expect(await events).not.toContain('"completed"')
})

test("a request whose body the Worker does not read is always answered", async () => {
  const body = Buffer.alloc(2 * MIB)
  const statuses = new Set<number>()
  for (let count = 0; count < 30; count += 1) {
    const init = { method: "POST", body, headers: { "content-type": "application/json" } }
    const answer = await fetch(`${service.origin}/v1/commands`, init)
    expect(await answer.text()).toContain("invalid_token")
    statuses.add(answer.status)
    const form = new FormData()
    form.append("nosuch", new Blob([body]))
    const upload = {
      method: "POST",
      body: form,
      headers: count % 2 === 0 ? {} : { "x-api-key": key },
    }
    const other = await fetch(`${service.origin}/v1/files`, upload)
    await other.text()
    statuses.add(other.status)
  }
  expect(statuses).toEqual(new Set([401, 422]))
})

test("a caller disconnects during an upload, and the Worker continues", async () => {
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(port, "127.0.0.1")
    const type = "Content-Type: multipart/form-data; boundary=b"
    const heads = [own(), `X-API-KEY: ${key}`, type, "Content-Length: 9000000"]
    socket.write(head("POST /v1/files HTTP/1.1", ...heads))
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc')
    await sleep(20)
    socket.destroy()
  }
  expect((await account.call("/files")).status).toBe(200)
})

test("a request waits while workerd restarts, and is then served", async () => {
  const workerd = findWorkerd(service.pid)
  killAll([workerd])
  await expect.poll(() => findWorkerd(service.pid), { timeout: AWAY_MS_MAX }).not.toBe(workerd)
  const asked = head("GET /v1/health HTTP/1.1", own())
  expect(statusesIn(await exchange(port, asked, { firstMs: AWAY_MS_MAX }))).toEqual([200])
  expect((await account.upload("b.txt", content)).name).toBe("b.txt")
})
