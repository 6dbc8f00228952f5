import { readFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { findWorkerd, killAll } from "../../faults/processes.ts"
import { startReceiver } from "../receiver.ts"
import type { ReceivedRequest, Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** Time by which workerd is killed before the next try, which is due once workerd runs again. */
const BEFORE_TRY_MS = 20
const TRY_AGAIN_MS_MAX = 150_000

const endpoint = z.looseObject({
  id: z.string(),
  secret: z.string(),
  enabled: z.boolean(),
  gone_at: z.string().nullable(),
})
const made = z.looseObject({ id: z.string() })
const deliveries = z.array(
  z.looseObject({
    id: z.string(),
    endpoint_id: z.string().nullable(),
    status: z.string(),
    next_try_at: z.string().nullable(),
    tries: z.array(z.looseObject({ status: z.number().nullable() })),
  }),
)

type Endpoint = z.infer<typeof endpoint>

const opened = new AsyncDisposableStack()
let service: TestService
let key = ""

beforeAll(async () => {
  const settings = { ALLOWED_PRIVATE_HOSTS: "127.0.0.1", WEBHOOK_RETRY_SECONDS: "2,2,2,60" }
  service = opened.use(await startService(settings))
})

afterAll(async () => await opened.disposeAsync())

async function ask(method: string, path: string, body?: unknown): Promise<string> {
  const answer = await fetch(`${service.origin}/v1${path}`, {
    method,
    headers: {
      "x-api-key": key,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text
}

async function receiver(...answer: Parameters<typeof startReceiver>): Promise<Receiver> {
  return opened.use(await startReceiver(...answer))
}

async function makeEndpoint(body: object): Promise<Endpoint> {
  return endpoint.parse(JSON.parse(await ask("POST", "/webhooks/endpoints", body)))
}

async function runCommand(more: object = {}): Promise<string> {
  const body = {
    ffmpeg_command: "ffmpeg -f lavfi -i color=s=16x16 -frames:v 1 {{out_1}}",
    output_files: { out_1: "out.png" },
    ...more,
  }
  const answer: unknown = JSON.parse(await ask("POST", "/commands", body))
  return z.object({ command_id: z.string() }).parse(answer).command_id
}

async function deliveriesOf(jobId: string) {
  return deliveries.parse(JSON.parse(await ask("GET", `/webhooks/deliveries?job_id=${jobId}`)))
}

/** Verifies a webhook as a receiver does, by the reference library. */
function verify(secret: string, { body, headers }: ReceivedRequest): unknown {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return new Webhook(secret).verify(body, Object.fromEntries(texts))
}

/** The text of a webhook's `data`, as it was sent. */
function dataOf({ body }: ReceivedRequest): string {
  return body.slice(body.indexOf('"data":') + '"data":'.length, -1)
}

describe("endpoints of an account", () => {
  it("get the events that they name, each signed by its own secret, beside a request's webhook", async () => {
    key = await service.makeKey("endpoints")
    const [commands, all, own, none] = [
      await receiver(),
      await receiver(),
      await receiver(),
      await receiver(),
    ]
    const first = await makeEndpoint({ url: commands.origin, events: ["command.*"] })
    const second = await makeEndpoint({ url: all.origin })
    await makeEndpoint({ url: none.origin, enabled: false })
    await makeEndpoint({ url: none.origin, events: ["*.canceled"] })

    const form = new FormData()
    form.set("file", new Blob([await readFile("scripts/demo/command/clip.mp4")]), "clip.mp4")
    const headers = { "x-api-key": key }
    const init = { method: "POST", headers, body: form }
    const uploaded = await fetch(`${service.origin}/v1/files`, init)
    const { id: fileId } = made.parse(await uploaded.json())
    const [ofFile] = await all.untilReceived(1)
    if (!ofFile) throw new Error("no webhook")
    expect(verify(second.secret, ofFile)).toMatchObject({
      type: "file.succeeded",
      data: { id: fileId },
    })
    expect(dataOf(ofFile)).toBe(await ask("GET", `/files/${fileId}`))

    const jobId = await runCommand({ webhook: own.origin })
    const [[toFirst], [, toSecond], [toOwn]] = await Promise.all([
      commands.untilReceived(1),
      all.untilReceived(2),
      own.untilReceived(1),
    ])
    if (!toFirst || !toSecond || !toOwn) throw new Error("no webhook")
    const { secret } = endpoint
      .pick({ secret: true })
      .parse(JSON.parse(await ask("GET", "/webhooks/secret")))
    for (const [signedBy, sent] of [
      [first.secret, toFirst],
      [second.secret, toSecond],
      [secret, toOwn],
    ] as const) {
      expect(verify(signedBy, sent)).toMatchObject({
        type: "command.succeeded",
        data: { id: jobId },
      })
      expect(dataOf(sent)).toBe(await ask("GET", `/commands/${jobId}`))
    }
    expect(() => verify(first.secret, toSecond)).toThrow(/signature/)
    const stored = await deliveriesOf(jobId)
    expect(new Set(stored.map(({ endpoint_id: id }) => id))).toEqual(
      new Set([first.id, second.id, null]),
    )
    expect(none.received).toEqual([])
    expect(commands.received).toHaveLength(1)
  })

  it("are disabled by a 410, and get nothing new then", async () => {
    key = await service.makeKey("gone")
    const { origin, received, untilReceived } = await receiver((response) => {
      response.writeHead(410).end()
    })
    const { id } = await makeEndpoint({ url: origin })
    await runCommand()
    await untilReceived(1)
    await expect
      .poll(async () => {
        const read: unknown = JSON.parse(await ask("GET", `/webhooks/endpoints/${id}`))
        return read
      })
      .toMatchObject({ enabled: false, gone_at: expect.any(String) })
    const second = await runCommand()
    await pWaitFor(async () => /"success"/.test(await ask("GET", `/commands/${second}`)))
    expect(await deliveriesOf(second)).toEqual([])
    expect(received).toHaveLength(1)
  })

  it("hear of a job although workerd was killed between its end and the delivery", async () => {
    key = await service.makeKey("killed")
    let isUp = false
    function answer(response: ServerResponse): void {
      response.writeHead(isUp ? 204 : 503).end()
    }
    function receivedSince(at: number, { received }: Receiver): ReceivedRequest[] {
      return received.filter((each) => each.at >= at)
    }
    const [one, other] = [await receiver(answer), await receiver(answer)]
    const endpoints = [
      await makeEndpoint({ url: one.origin }),
      await makeEndpoint({ url: other.origin, events: ["command.succeeded"] }),
    ]
    const jobId = await runCommand()
    await Promise.all([one.untilReceived(1), other.untilReceived(1)])
    await expect
      .poll(async () => (await deliveriesOf(jobId)).map(({ tries }) => tries.length))
      .toEqual([1, 1])
    const waiting = await deliveriesOf(jobId)
    const nextAt = Math.min(...waiting.map((each) => Date.parse(each.next_try_at ?? "")))
    await sleep(Math.max(0, nextAt - BEFORE_TRY_MS - Date.now()))
    killAll([findWorkerd(service.pid)])
    isUp = true
    const killedAt = Date.now()
    // A try that died with workerd is claimed for a minute, and a sweep repeats the try.
    await expect
      .poll(async () => (await deliveriesOf(jobId)).map(({ status }) => status), {
        timeout: TRY_AGAIN_MS_MAX,
      })
      .toEqual(["delivered", "delivered"])
    for (const [at, receiving] of [one, other].entries()) {
      const [sent, ...repeats] = receivedSince(killedAt, receiving)
      const { secret = "" } = endpoints[at] ?? {}
      // A try whose answer was lost with workerd is sent again, by the same id.
      for (const { headers } of repeats) {
        expect(headers["webhook-id"]).toBe(sent?.headers["webhook-id"])
      }
      expect(sent && verify(secret, sent)).toMatchObject({ data: { id: jobId } })
    }
    const ids = new Set(waiting.map(({ id }) => id))
    for (const sent of [...one.received, ...other.received]) {
      expect(ids).toContain(String(sent.headers["webhook-id"]))
    }
  })
})
