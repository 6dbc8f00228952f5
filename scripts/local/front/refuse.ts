import { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Problem, problemResponse } from "../../../src/http/problem.ts"
import { SHARED_HEADERS } from "../../../src/http/shared-headers.ts"
import { newId } from "../../../src/ids.ts"

const REST_MS_MAX = 10_000

/** Answers a request in the shape of the service's own errors; its body is read and dropped. */
export async function refuse(
  incoming: IncomingMessage,
  answer: ServerResponse,
  problem: Problem,
): Promise<void> {
  const { accept = "", expect } = incoming.headers
  const requestId = newId()
  const response = problemResponse(problem, { requestId, accept })
  const body = await response.text()
  if (answer.headersSent || answer.destroyed) return
  if (expect !== undefined) answer.shouldKeepAlive = false
  dropRest(incoming)
  answer.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...SHARED_HEADERS,
    "cache-control": "no-store",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
  })
  answer.end(body)
}

/**
 * Reads and drops what comes of a body that nobody wants, so that its sender gets to read the
 * answer, and closes the connection where that takes long.
 */
export function dropRest(incoming: IncomingMessage): void {
  incoming.resume()
  if (incoming.complete) return
  const timer = setTimeout(() => incoming.socket.destroy(), REST_MS_MAX)
  incoming.once("close", () => clearTimeout(timer))
}

/** Answers on a connection whose bytes are no request that was understood, and closes it. */
export async function refuseConnection(socket: Socket, problem: Problem): Promise<void> {
  const incoming = new IncomingMessage(socket)
  const answer = new ServerResponse(incoming)
  answer.shouldKeepAlive = false
  answer.assignSocket(socket)
  // Node watches over the connections of requests only.
  socket.on("error", () => socket.destroy())
  answer.once("finish", () => socket.destroySoon())
  await refuse(incoming, answer, problem)
}

/** What a request hears while nobody is there to take it; `why` is a sentence without its end. */
export function notUp(why: string): Problem {
  return new Problem("overloaded", `${why}; send the request once more.`, {
    retryAfterSeconds: 1,
    headers: { "retry-after": "1" },
  })
}
