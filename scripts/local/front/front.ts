import { once } from "node:events"
import { Agent, createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { z } from "zod"
import { Problem } from "../../../src/http/problem.ts"
import { clientAddressOf } from "./client-address.ts"
import { openConnection } from "./connection.ts"
import { readTarget } from "./target.ts"
import { notUp, refuse, refuseConnection } from "./refuse.ts"
import { relay } from "./relay.ts"

const HEAD_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
const HEAD_MS_MAX = 10_000
const HEAD_CHECK_MS = 1000
/** How much longer than the Worker the front waits for a body, so that the Worker refuses first. */
const BODY_PATIENCE_MS = 5000
/** workerd closes a connection that was idle for five seconds. */
const IDLE_CONNECTION_MS_MAX = 3000

export const frontOptions = z.object({
  /** What it listens on. */
  host: z.string(),
  port: z.number(),
  /** The address that callers know, where it is another one. */
  publicOrigin: z.string().optional(),
  /** How long a client may send nothing of a body that it owes. */
  bodyIdleMs: z.number(),
  /** The header in which a proxy in front says whose request it is. */
  clientAddressHeader: z.string().optional(),
  /** Path of the socket where the Worker listens. */
  socketPath: z.string(),
})

export type FrontOptions = z.infer<typeof frontOptions>

/** A front that listens; until `open` is called, it answers each request that it is starting. */
export type Front = { open(): void }

/**
 * Listens where callers reach the service, and once it is open passes on what is a request for it:
 * whole heads, for a host that is its own, without headers that the local runtime interprets.
 */
export async function listen(options: FrontOptions): Promise<Front> {
  const { host, port, socketPath, bodyIdleMs, clientAddressHeader } = options
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS_MAX })
  agent.createConnection = () => openConnection(socketPath)
  const answers = new WeakMap<Socket, ServerResponse>()
  let isOpen = false
  function serve(incoming: IncomingMessage, answer: ServerResponse): void {
    answers.set(incoming.socket, answer)
    limitSilence(incoming, answer, bodyIdleMs + BODY_PATIENCE_MS)
    const target = hasTooMany(incoming) ? tooLarge() : readTarget(incoming, options)
    if (target instanceof Problem) void refuse(incoming, answer, target)
    else if (isOpen) {
      const clientAddress = clientAddressOf(incoming, clientAddressHeader)
      relay(incoming, answer, { agent, clientAddress, ...target })
    } else void refuse(incoming, answer, notUp("The service is starting"))
  }
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: HEAD_MS_MAX,
    connectionsCheckingInterval: HEAD_CHECK_MS,
    requestTimeout: 0,
    // A request without `Host` is answered like the others that cannot be understood.
    requireHostHeader: false,
  })
  server.maxHeadersCount = HEADERS_MAX + 1
  server.on("request", serve)
  server.on("checkContinue", serve)
  server.on("checkExpectation", (incoming: IncomingMessage, answer: ServerResponse) => {
    void refuse(incoming, answer, unexpected())
  })
  server.on("connect", (_, socket: Socket) => void refuseConnection(socket, noTunnel()))
  server.on("clientError", (error: Error, socket: Socket) => {
    endConnection(socket, answers.get(socket), error)
  })
  await once(server.listen(port, host), "listening")
  return { open: () => void (isOpen = true) }
}

/** Refuses a client that owes a body and falls silent; one whose bytes wait here owes none. */
function limitSilence(
  incoming: IncomingMessage,
  answer: ServerResponse,
  silenceMsMax: number,
): void {
  const { socket } = incoming
  answer.setTimeout(silenceMsMax, () => {
    const owes = !incoming.complete && incoming.readableLength === 0
    if (!owes) socket.setTimeout(silenceMsMax)
    else if (answer.headersSent) socket.destroy()
    else {
      answer.shouldKeepAlive = false
      void refuse(incoming, answer, tooSlow("The body did not arrive in time."))
    }
  })
}

/** Answers what is no HTTP, or came too slowly, as far as nothing else is under way. */
function endConnection(socket: Socket, answer: ServerResponse | undefined, error: Error): void {
  const problem = problemOf(error)
  if (!socket.writable || problem === null) {
    socket.destroy()
  } else if (!answer || answer.writableFinished) {
    void refuseConnection(socket, problem)
  } else if (answer.req.complete || answer.headersSent) {
    answer.shouldKeepAlive = false
  } else {
    answer.shouldKeepAlive = false
    void refuse(answer.req, answer, problem)
  }
}

/** What is wrong with the bytes of a connection; null where it broke. */
function problemOf(error: Error): Problem | null {
  const code = "code" in error ? String(error.code) : ""
  if (code === "HPE_HEADER_OVERFLOW") return tooLarge()
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return tooSlow("The head did not arrive in time.")
  if (!code.startsWith("HPE_")) return null
  return new Problem("invalid_request", "This is no request of HTTP/1.1.")
}

function hasTooMany({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * HEADERS_MAX
}

function tooLarge(): Problem {
  const message = `A head may have ${HEAD_BYTES_MAX} bytes and ${HEADERS_MAX} headers.`
  return new Problem("headers_too_large", message)
}

function tooSlow(message: string): Problem {
  return new Problem("request_timeout", message)
}

function unexpected(): Problem {
  return new Problem("expectation_failed", "Expect is 100-continue, or is left out.")
}

function noTunnel(): Problem {
  const allow = "DELETE, GET, HEAD, POST, PUT"
  const message = "CONNECT is not a method of this service."
  return new Problem("method_not_allowed", message, { headers: { allow } })
}
