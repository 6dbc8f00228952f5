import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { z } from "zod"
import { portOf } from "./proxy.ts"

const event = z.looseObject({ type: z.string(), data: z.looseObject({ id: z.string() }) })

/** What was heard of one job: the ids and types of its webhooks, and how often one came. */
export type Heard = { ids: Set<string>; types: Set<string>; bodies: Set<string>; times: number }

/** Takes webhooks, verifies each one, and remembers what it heard of which job. */
export type Receiver = AsyncDisposable & {
  url: string
  /** Verifies from now on with this secret. */
  setSecret(secret: string): void
  /** Deliveries whose signature was wrong, in words. */
  refused: string[]
  heardOf(jobId: string): Heard
  /** Called before a delivery of a job is answered. */
  beforeAnswer: (jobId: string) => Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const heard = new Map<string, Heard>()
  let secret = ""
  const server = createServer((request, response) => {
    void take(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const receiver: Receiver = {
    url: `http://127.0.0.1:${portOf(server)}/hook`,
    setSecret: (value) => {
      secret = value
    },
    refused: [],
    heardOf: (jobId) => heard.get(jobId) ?? nothing(),
    beforeAnswer: async () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  async function take(request: IncomingMessage): Promise<number> {
    const body = await text(request)
    const headers = toRecord(request)
    try {
      new Webhook(secret).verify(body, headers)
    } catch (error) {
      receiver.refused.push(`${headers["webhook-id"]}: ${String(error)}`)
      return 400
    }
    const { type, data } = event.parse(JSON.parse(body))
    const known = heard.get(data.id) ?? nothing()
    heard.set(data.id, known)
    known.ids.add(headers["webhook-id"] ?? "")
    known.types.add(type)
    known.bodies.add(body)
    known.times += 1
    await receiver.beforeAnswer(data.id)
    return 204
  }
  return receiver
}

function nothing(): Heard {
  return { ids: new Set(), types: new Set(), bodies: new Set(), times: 0 }
}

function toRecord({ headersDistinct }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, values] of Object.entries(headersDistinct)) headers[name] = String(values?.[0])
  return headers
}
