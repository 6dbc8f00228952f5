import { once } from "node:events"
import { chmod, chown } from "node:fs/promises"
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { Socket } from "node:net"
import type { Dial, EgressError } from "./dial.ts"
import { passRequestOn, passTunnelOn } from "./pass-on.ts"
import type { Way } from "./pass-on.ts"
import { openTraffic } from "./traffic.ts"

/** What tools are told; no connection that they make goes by this address. */
const PROXY_URL = "http://127.0.0.1:3128"

const CONNECTIONS_MAX = 64
const HEAD_BYTES_MAX = 64 * 1024
const HEAD_MS_MAX = 20_000
const IDLE_MS_MAX = 60_000

/** The way out of one tool and its children. */
export type Proxy = AsyncDisposable & {
  socketPath: string
  /** The URL of the proxy that tools are told. */
  url: string
  /** Whether a connection to the outside is open. */
  isOpen(): boolean
  /** Bytes that came from outside by all connections. */
  received(): number
  /** What was refused or not reached, the last of it, in order. */
  refusals(): readonly EgressError[]
  /** Whether more than `bytesMax` came in: then all connections were closed, and none is made. */
  isTooLarge(): boolean
}

export type ProxyOptions = {
  /** In a folder that only the tool's side reaches; at most 107 bytes long. */
  socketPath: string
  /** Who may connect; null: this process's own user. */
  uid: number | null
  dial: Dial
  bytesMax: number
  /** How long a connection to the outside may idle. */
  idleMsMax?: number
  /** Closes it, as its disposal does: then nothing of it is left. */
  signal: AbortSignal
}

/**
 * Opens an HTTP proxy on a UNIX socket: requests for http URLs in absolute form, and CONNECT for all
 * else. Every connection to the outside is made by `dial`, one for each request.
 */
export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const { socketPath, uid, signal, ...limits } = options
  signal.throwIfAborted()
  const server = openServer()
  const clients = trackClients(server)
  const traffic = openTraffic({ ...limits, onTooLarge: () => closeAll(clients) })
  function wayOf(client: Socket): Way {
    return { traffic, signal: clients.get(client) ?? AbortSignal.abort() }
  }
  server.on("request", (incoming, answer) => {
    void passRequestOn(incoming, answer, wayOf(incoming.socket))
  })
  server.on("connect", (incoming, _client, head) => {
    void passTunnelOn(incoming, head, wayOf(incoming.socket))
  })
  await once(server.listen(socketPath), "listening")
  signal.addEventListener("abort", close, { once: true })
  function close() {
    closeAll(clients)
    traffic.close()
    // Node removes the socket's file with it.
    server.close()
  }
  const proxy: Proxy = {
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

/** The connections of the tool, each with a signal that aborts when it is gone. */
function trackClients(server: Server): ReadonlyMap<Socket, AbortSignal> {
  const clients = new Map<Socket, AbortSignal>()
  server.on("connection", (socket) => {
    const gone = new AbortController()
    clients.set(socket, gone.signal)
    socket.once("close", () => {
      clients.delete(socket)
      gone.abort()
    })
  })
  return clients
}

function closeAll(clients: ReadonlyMap<Socket, AbortSignal>): void {
  for (const socket of clients.keys()) socket.destroy()
}
