import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import pWaitFor from "p-wait-for"
import { startLoopbackServer } from "../../scripts/cli/loopback-server.ts"

const POLL_MS = 2

export type ReceivedRequest = {
  at: number
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver of webhooks on the loopback interface, and what it has received so far. */
export type Receiver = AsyncDisposable & {
  origin: string
  received: ReceivedRequest[]
  /** Answers once that many were received. */
  untilReceived: (count: number) => Promise<ReceivedRequest[]>
}

/** Starts a receiver; `answer` is told how many came before, and 204 answers where it does not. */
export async function startReceiver(
  answer: (response: ServerResponse, before: number, path: string) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const path = request.url ?? ""
    const body = await text(request)
    received.push({ at, path, headers: request.headers, body })
    answer(response, received.length - 1, path)
  }
  const server = await startLoopbackServer((request, response) => void take(request, response))
  return {
    origin: server.origin,
    received,
    untilReceived: async (count) => {
      await pWaitFor(() => received.length >= count, { interval: POLL_MS })
      return received
    },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  }
}
