import { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { problemResponse } from "../../../src/http/problem.ts"
import type { Problem } from "../../../src/http/problem.ts"
import { SHARED_HEADERS } from "../../../src/http/shared-headers.ts"
import { newId } from "../../../src/ids.ts"

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
  incoming.resume()
  answer.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...SHARED_HEADERS,
    "cache-control": "no-store",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
  })
  answer.end(body)
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
