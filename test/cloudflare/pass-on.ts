import { request } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"

/**
 * Passes a request on to a port of loopback, and its answer back, both as they come; throws where
 * nothing answers.
 */
export async function passOn(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { port, path, headers }: { port: number; path: string; headers: Record<string, string> },
): Promise<number> {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    path,
    method: incoming.method,
    headers: { ...incoming.headers, ...headers },
    agent: false,
  })
  answer.once("close", () => outgoing.destroy())
  const arriving = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).on("error", reject)
  })
  incoming.pipe(outgoing)
  const received = await arriving
  answer.writeHead(received.statusCode ?? 502, received.headers)
  answer.flushHeaders()
  await pipeline(received, answer)
  return received.statusCode ?? 502
}
