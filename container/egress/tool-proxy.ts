import { once } from "node:events"
import { chmod, chown } from "node:fs/promises"
import { createServer, STATUS_CODES } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { EgressError, getHostWithoutBrackets, toEgressError } from "./dial.ts"
import type { DialFunction } from "./dial.ts"
import { createToolTraffic } from "./tool-traffic.ts"
import type { ToolTraffic } from "./tool-traffic.ts"
import { pipeline } from "node:stream/promises"
import type { FailureCode } from "../../src/contract/failure.ts"
import { parseWebUrl } from "../../src/contract/urls/user-url.ts"
import { relayRequest } from "./relay-request.ts"

/**
 * Proxy URL that is set in the environment of tools. Nothing listens at this address, because the
 * sandbox directs every TCP connection of a tool to the UNIX socket of the tool's proxy.
 */
const PROXY_URL = "http://127.0.0.1:3128"

const CONNECTIONS_MAX = 64
const HEAD_BYTES_MAX = 64 * 1024
const HEAD_MS_MAX = 20_000
const IDLE_MS_MAX = 60_000

/** HTTP proxy for one tool and its child processes. */
export type ToolProxy = AsyncDisposable & {
  socketPath: string
  /** Proxy URL for the tool's environment. */
  url: string
  /** Reports whether at least one connection to a remote host is open. */
  isOpen(): boolean
  /** Returns the number of bytes received from remote hosts on all connections. */
  received(): number
  /** Returns the errors of the latest refused or failed connections, the oldest error first. */
  refusals(): readonly EgressError[]
  /**
   * Reports whether the tool has received more than `bytesMax` bytes. The proxy then closes all
   * connections and refuses new connections.
   */
  isTooLarge(): boolean
}

export type ToolProxyOptions = {
  /**
   * Path of the UNIX socket, at most 107 bytes long, in a folder that only this process and the
   * broker, which connects the tool to the socket, can enter.
   */
  socketPath: string
  /** User id that may connect to the UNIX socket; null for the user of this process. */
  uid: number | null
  dial: DialFunction
  bytesMax: number
  /** Timeout of an idle connection to a remote host, in milliseconds. */
  idleMsMax?: number
  /** Signal whose abort closes the proxy and removes its socket, as disposal of the proxy does. */
  signal: AbortSignal
}

/**
 * Opens an HTTP proxy on a UNIX socket. The proxy forwards requests for absolute http URLs, and
 * opens a tunnel for each CONNECT request. `dial` opens a separate connection to the remote host
 * for each request.
 */
export async function startToolProxy(options: ToolProxyOptions): Promise<ToolProxy> {
  const { socketPath, uid, signal, ...limits } = options
  signal.throwIfAborted()
  const server = openServer()
  const clients = trackClients(server)
  const traffic = createToolTraffic({ ...limits, onTooLarge: () => closeAll(clients) })
  function contextOf(client: Socket): ProxyContext {
    return { traffic, signal: clients.get(client) ?? AbortSignal.abort() }
  }
  server.on("request", (incoming, answer) => {
    void forwardRequest(incoming, answer, contextOf(incoming.socket))
  })
  server.on("connect", (incoming, _client, head) => {
    void forwardTunnel(incoming, head, contextOf(incoming.socket))
  })
  await once(server.listen(socketPath), "listening")
  signal.addEventListener("abort", close, { once: true })
  function close() {
    closeAll(clients)
    traffic.close()
    // Closing the server also removes the socket file.
    server.close()
  }
  const proxy: ToolProxy = {
    socketPath,
    url: PROXY_URL,
    isOpen: () => traffic.isOpen(),
    received: () => traffic.received(),
    refusals: () => traffic.refusals(),
    isTooLarge: () => traffic.isTooLarge(),
    async [Symbol.asyncDispose]() {
      signal.removeEventListener("abort", close)
      const closed = server.listening ? once(server, "close") : null
      close()
      await closed
    },
  }
  try {
    await chmod(socketPath, 0o600)
    if (uid !== null) await chown(socketPath, uid, -1)
  } catch (error) {
    await proxy[Symbol.asyncDispose]()
    throw error
  }
  return proxy
}

function openServer(): Server {
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: HEAD_MS_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    requestTimeout: 0,
  })
  server.maxConnections = CONNECTIONS_MAX
  return server
}

/**
 * Tracks the connections of the tool to the proxy. The signal of a connection aborts when the
 * connection closes.
 */
function trackClients(server: Server): ReadonlyMap<Socket, AbortSignal> {
  const clients = new Map<Socket, AbortSignal>()
  server.on("connection", (socket) => {
    const hangUp = new AbortController()
    clients.set(socket, hangUp.signal)
    socket.once("close", () => {
      clients.delete(socket)
      hangUp.abort()
    })
  })
  return clients
}

function closeAll(clients: ReadonlyMap<Socket, AbortSignal>): void {
  for (const socket of clients.keys()) socket.destroy()
}

/**
 * Header of the proxy's own error responses, as opposed to responses of remote hosts. The value is
 * the failure code, such as `url_not_allowed`.
 */
const REFUSED_HEADER = "lathe-refused"

const REFUSAL_HEADERS = { "content-type": "text/plain; charset=utf-8" }

const STATUS: Partial<Record<FailureCode, number>> = {
  url_not_allowed: 403,
  too_large: 403,
  too_slow: 504,
}

/**
 * Context of a proxied request. `signal` aborts when the tool closes its connection to the proxy.
 */
type ProxyContext = { traffic: ToolTraffic; signal: AbortSignal }

/** Serves a request for an http URL in absolute form, on a new connection to the URL's host. */
async function forwardRequest(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { traffic, signal }: ProxyContext,
): Promise<void> {
  const target = textOf(incoming.url)
  if (/^(?:\/|\*|https:)/i.test(target)) {
    answer.writeHead(400).end("Expected a request for an absolute http URL, or CONNECT.")
    return
  }
  const url = parseWebUrl(target)
  if (!url) return refuse(answer, traffic.record(notAllowed("expected an http URL")))
  let outside: Socket | null = null
  try {
    outside = await traffic.open(url, signal)
    await relayRequest(url, incoming, answer, {
      socket: outside,
      signal,
      onResponse: (response) => traffic.watch(response),
    })
  } catch (error) {
    const failure = toEgressError(outside?.errored ?? error, nameOf(url))
    // After the response has begun, records no failure except a timeout of the idle connection.
    // Only this timeout sets an EgressError on the socket.
    if (answer.headersSent && failure === outside?.errored) traffic.record(failure)
    if (answer.headersSent || signal.aborted) answer.destroy()
    else refuse(answer, traffic.record(failure))
  } finally {
    outside?.destroy()
  }
}

/**
 * Serves a CONNECT request: once the remote host is connected, the connection of the tool becomes a
 * tunnel.
 */
async function forwardTunnel(
  incoming: IncomingMessage,
  head: Buffer,
  { traffic, signal }: ProxyContext,
): Promise<void> {
  const client = incoming.socket
  client.on("error", () => undefined)
  const url = readAuthority(textOf(incoming.url))
  if (!url) return refuseTunnel(client, traffic.record(notAllowed("expected a host and a port")))
  const outside = await traffic.open(url, signal).catch((error: unknown) => {
    if (signal.aborted) client.destroy()
    else refuseTunnel(client, traffic.record(toEgressError(error, nameOf(url))))
    return null
  })
  if (!outside) return
  // Keeps the connection half open when the host ends first, so that the tool can read the
  // remaining bytes.
  outside.allowHalfOpen = true
  client.write("HTTP/1.1 200 Connection established\r\n\r\n")
  if (head.length > 0) outside.write(head)
  traffic.watch(outside)
  // Records a failure of an idle tunnel only if the tool waits for a response, since a tool may
  // keep an idle tunnel open for later requests.
  let isAwaited = false
  client.on("data", () => (isAwaited = true))
  outside.on("data", () => (isAwaited = false))
  // When either side of the tunnel breaks, ends the other side. The tool itself reports the reason.
  await Promise.allSettled([pipeline(client, outside), pipeline(outside, client)])
  if (isAwaited && outside.errored instanceof EgressError) traffic.record(outside.errored)
  outside.destroy()
  client.destroy()
}

function readAuthority(target: string): URL | null {
  const isAuthority = /^(?:\[[0-9a-f:.]+\]|[^[\]/?#@:]+):\d{1,5}$/i.test(target)
  return isAuthority ? parseWebUrl(`https://${target}/`) : null
}

/**
 * Decodes a request target (path or URL) again: tools send UTF-8, but Node has decoded the target
 * as Latin-1.
 */
function textOf(target = ""): string {
  return Buffer.from(target, "latin1").toString("utf8")
}

function nameOf(url: URL): string {
  return `"${getHostWithoutBrackets(url)}"`
}

function notAllowed(reason: string): EgressError {
  return new EgressError("url_not_allowed", reason)
}

function refuse(answer: ServerResponse, { code, message }: EgressError): void {
  answer.writeHead(STATUS[code] ?? 502, { ...REFUSAL_HEADERS, [REFUSED_HEADER]: code }).end(message)
}

/**
 * Refuses a CONNECT request. Writes the response directly to the socket, because a response object
 * of Node could keep the connection open.
 */
function refuseTunnel(client: Socket, { code, message }: EgressError): void {
  const status = STATUS[code] ?? 502
  const headers = { ...REFUSAL_HEADERS, [REFUSED_HEADER]: code, connection: "close" }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  client.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${message}`)
  client.destroySoon()
}
