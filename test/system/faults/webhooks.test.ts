import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { startReceiver } from "../receiver.ts"
import type { ReceivedRequest, Receiver } from "../receiver.ts"
import { startService } from "../service.ts"

const delivery = z.object({
  id: z.string(),
  status: z.string(),
  tries: z.array(
    z.object({
      at: z.string(),
      status: z.number().nullable(),
      duration_ms: z.number(),
      error: z.string().optional(),
      answer: z.string().nullable(),
    }),
  ),
})

const opened = new AsyncDisposableStack()
let base = ""
let key = ""

beforeAll(async () => {
  const service = await startService({
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    WEBHOOK_RETRY_SECONDS: "1,1,60",
  })
  opened.use(service)
  base = `${service.origin}/v1`
  key = await service.makeKey("webhooks")
})

afterAll(async () => await opened.disposeAsync())

async function receiver(...answer: Parameters<typeof startReceiver>): Promise<Receiver> {
  return opened.use(await startReceiver(...answer))
}

async function ask(path: string, init: RequestInit = {}): Promise<string> {
  const headers = new Headers(init.headers)
  headers.set("x-api-key", key)
  const answer = await fetch(base + path, { ...init, headers })
  return await answer.text()
}

async function post(path: string, body: unknown): Promise<string> {
  const headers = { "content-type": "application/json" }
  return await ask(path, { method: "POST", headers, body: JSON.stringify(body) })
}

async function sendTest(url: string): Promise<string> {
  return delivery.parse(JSON.parse(await post("/webhooks/test", { url }))).id
}

/** The delivery once `isReached` holds of it. */
async function until(id: string, isReached: (read: z.infer<typeof delivery>) => boolean) {
  for (;;) {
    const read = delivery.parse(JSON.parse(await ask(`/webhooks/deliveries/${id}`)))
    if (isReached(read)) return read
    await sleep(20)
  }
}

async function runCommand(line: string, webhook: string): Promise<string> {
  const output_files = { out_1: "out.png" }
  const body = { ffmpeg_command: line, input_files: {}, output_files, webhook }
  return z.object({ command_id: z.string() }).parse(JSON.parse(await post("/commands", body)))
    .command_id
}

async function verify({ body, headers }: ReceivedRequest): Promise<unknown> {
  const { secret } = z
    .object({ secret: z.string() })
    .parse(JSON.parse(await ask("/webhooks/secret")))
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) texts[name] = String(value)
  return new Webhook(secret).verify(body, texts)
}

/** The text of a webhook's `data`, as it was sent. */
function dataOf({ body }: ReceivedRequest): string {
  return body.slice(body.indexOf('"data":') + '"data":'.length, -1)
}

describe.concurrent("webhooks", () => {
  it("report the end of a command with the record of GET", async () => {
    const { origin, untilReceived } = await receiver()
    const line = "ffmpeg -f lavfi -i color=s=16x16 -frames:v 1 {{out_1}}"
    const id = await runCommand(line, `${origin}/done`)
    const [told] = await untilReceived(1)
    if (!told) throw new Error("no webhook")
    expect(await verify(told)).toMatchObject({ type: "command.succeeded", data: { id } })
    expect(told.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "lathe-webhooks/1",
    })
    expect(dataOf(told)).toBe(await ask(`/commands/${id}`))
    const [logged] = z
      .array(delivery)
      .parse(JSON.parse(await ask(`/webhooks/deliveries?job_id=${id}`)))
    expect(logged?.id).toBe(told.headers["webhook-id"])
  })

  it("report a failed command", async () => {
    const { origin, untilReceived } = await receiver()
    const id = await runCommand("ffmpeg -f lavfi -i nosuchsource {{out_1}}", origin)
    const [told] = await untilReceived(1)
    if (!told) throw new Error("no webhook")
    expect(await verify(told)).toMatchObject({ type: "command.failed", data: { id } })
    expect(dataOf(told)).toBe(await ask(`/commands/${id}`))
  })

  it("report a probed upload", async () => {
    const { origin, untilReceived } = await receiver()
    const form = new FormData()
    form.set("webhook", origin)
    form.set("file", new Blob([await readFile("scripts/demo/command/clip.mp4")]), "clip.mp4")
    const answer = await ask("/files", { method: "POST", body: form })
    const { id } = z.object({ id: z.string() }).parse(JSON.parse(answer))
    const [told] = await untilReceived(1)
    if (!told) throw new Error("no webhook")
    expect(await verify(told)).toMatchObject({ type: "file.succeeded", data: { id } })
    expect(dataOf(told)).toBe(await ask(`/files/${id}`))
  })

  it("are retried after a failure, with the same id and bytes and a new signature", async () => {
    const { origin, untilReceived } = await receiver((response, before) => {
      response.writeHead(before === 0 ? 500 : 200).end("word")
    })
    const id = await sendTest(origin)
    const { tries, status } = await until(id, (read) => read.status === "delivered")
    expect([status, ...tries.map((each) => each.status)]).toEqual(["delivered", 500, 200])
    expect(tries[1]?.answer).toBe("word")
    const [first, second] = await untilReceived(2)
    expect(second?.body).toBe(first?.body)
    expect(second?.headers["webhook-id"]).toBe(id)
    expect(second?.headers["webhook-timestamp"]).not.toBe(first?.headers["webhook-timestamp"])
    for (const each of [first, second]) if (each) await verify(each)
  })

  it("do not follow a redirect", async () => {
    const { origin, received } = await receiver((response) => {
      response.writeHead(307, { location: "/elsewhere" }).end()
    })
    const { tries } = await until(await sendTest(`${origin}/here`), (read) => read.tries.length > 0)
    expect(tries[0]).toMatchObject({ status: 307, error: expect.stringContaining("redirect") })
    expect(received.map(({ path }) => path)).not.toContain("/elsewhere")
  })

  it("end with a 410", async () => {
    const { origin, received } = await receiver((response) => void response.writeHead(410).end())
    const { status } = await until(await sendTest(origin), (read) => read.status !== "waiting")
    await sleep(1500)
    expect([status, received.length]).toEqual(["failed", 1])
  })

  it("are retried after Retry-After at the earliest", async () => {
    const { origin, untilReceived } = await receiver((response, before) => {
      response.writeHead(before === 0 ? 503 : 200, { "retry-after": "3" }).end()
    })
    await sendTest(origin)
    const [first, second] = await untilReceived(2)
    const waitedMs = (second?.at ?? 0) - (first?.at ?? 0)
    expect(waitedMs).toBeGreaterThanOrEqual(2990)
    expect(waitedMs).toBeLessThan(30_000)
  })

  it("time out after 15 s for a dripping receiver, and reach others meanwhile", async () => {
    const dripping = await receiver((response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write("."), 400)
      response.once("close", () => clearInterval(timer))
    })
    const ids = await Promise.all([1, 2, 3, 4].map(() => sendTest(dripping.origin)))
    await dripping.untilReceived(4)
    const other = await receiver()
    const waitsMs: number[] = []
    for (let count = 1; count <= 5; count += 1) {
      const sentAt = Date.now()
      await sendTest(other.origin)
      const received = await other.untilReceived(count)
      waitsMs.push((received.at(-1)?.at ?? 0) - sentAt)
    }
    // In sequence, the fast deliveries would wait for the dripping one.
    expect(waitsMs.toSorted((one, two) => one - two)[2]).toBeLessThan(5000)
    const { tries } = await until(ids[0] ?? "", (read) => read.tries.length > 0)
    expect(tries[0]).toMatchObject({ status: 200, error: expect.stringContaining("15 seconds") })
    expect(tries[0]?.duration_ms).toBeLessThan(30_000)
  })

  it("reach public hosts only, and log each refusal", async () => {
    for (const host of ["10.0.0.1", "localhost", "[::1]", "168.63.129.16"]) {
      const refusal = { code: 422, details: [{ field: "url" }] }
      const refused: unknown = JSON.parse(await post("/webhooks/test", { url: `http://${host}/` }))
      expect(refused).toMatchObject(refusal)
    }
    const body = { ffmpeg_command: "ffmpeg {{out_1}}", output_files: { out_1: "a.png" } }
    const webhook = "http://receiver.example:25/"
    expect(await post("/commands", { ...body, input_files: {}, webhook })).toContain(
      '"field":"webhook","message":"expected port 80, 443 or most ports',
    )
    const id = await sendTest("http://receiver.example/")
    const { tries } = await until(id, (read) => read.tries.length > 0)
    expect(tries[0]).toMatchObject({
      status: null,
      error: expect.stringContaining("receiver.example"),
    })
  })
})
