import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { z } from "zod"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"

const event = z.looseObject({ type: z.string(), data: z.looseObject({ id: z.string() }) })

/** The webhooks of one job: their ids, types and bodies, and the number of deliveries. */
export type ReceivedWebhooks = {
  ids: Set<string>
  types: Set<string>
  bodies: Set<string>
  times: number
}

/** Receives webhooks, verifies each one, and records them by job. */
export type Receiver = AsyncDisposable & {
  url: string
  /** Verifies from now on with this secret. */
  setSecret(secret: string): void
  /** Descriptions of deliveries whose signature was wrong. */
  refused: string[]
  heardOf(jobId: string): ReceivedWebhooks
  /** Called before a delivery of a job is answered. */
  beforeAnswer: (jobId: string) => Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const heard = new Map<string, ReceivedWebhooks>()
  let secret = ""
  const server = await startLoopbackServer((request, response) => {
    void take(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    )
  })
  const receiver: Receiver = {
    url: `${server.origin}/hook`,
    setSecret: (value) => {
      secret = value
    },
    refused: [],
    heardOf: (jobId) => heard.get(jobId) ?? nothing(),
    beforeAnswer: async () => undefined,
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
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

function nothing(): ReceivedWebhooks {
  return { ids: new Set(), types: new Set(), bodies: new Set(), times: 0 }
}

function toRecord({ headersDistinct }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, values] of Object.entries(headersDistinct)) headers[name] = String(values?.[0])
  return headers
}
