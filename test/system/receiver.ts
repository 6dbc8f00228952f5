import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"

export type Received = { at: number; path: string; headers: IncomingHttpHeaders; body: string }

/** A receiver of webhooks on the loopback interface, and what it has received so far. */
export type Receiver = AsyncDisposable & {
  origin: string
  received: Received[]
  /** Answers once that many were received. */
  untilReceived: (count: number) => Promise<Received[]>
}

/** Starts a receiver; `answer` is told how many came before, and 204 answers where it does not. */
export async function startReceiver(
  answer: (response: ServerResponse, before: number, path: string) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = []
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const path = request.url ?? ""
    const body = await text(request)
    received.push({ at, path, headers: request.headers, body })
    answer(response, received.length - 1, path)
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    untilReceived: async (count) => {
      while (received.length < count) await sleep(2)
      return received
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
