import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { RequestListener } from "node:http"
import { connect, createServer as createTcpServer } from "node:net"
import type { Server, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import { createDialFunction } from "../../../container/egress/dial.ts"
import type { DialFunction, DialOptions } from "../../../container/egress/dial.ts"
import { startToolProxy } from "../../../container/egress/tool-proxy.ts"
import type { ToolProxy, ToolProxyOptions } from "../../../container/egress/tool-proxy.ts"
import type { HostResolver } from "../../../container/egress/resolve-host.ts"

/** Address that counts as public; no test sends anything to it. */
export const PUBLIC = "93.184.216.34"

/** Server on the loopback interface, with its open sockets. */
export type TestServer = AsyncDisposable & {
  port: number
  open: ReadonlySet<Socket>
  count(): number
}

/** Returns a stand-in for the name servers: every host has these addresses. */
export function to(...addresses: string[]): HostResolver {
  const found = addresses.map(
    (address) => ({ address, family: address.includes(":") ? 6 : 4 }) as const,
  )
  return () => Promise.resolve(found)
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  return await listen(createServer(listener))
}

/** Starts a byte-level server; input that the listener ignores is read and dropped. */
export async function serveBytes(listener: (socket: Socket) => void): Promise<TestServer> {
  return await listen(createTcpServer((socket) => listener(socket.resume())))
}

export async function listen(server: Server, host = "127.0.0.1"): Promise<TestServer> {
  const open = new Set<Socket>()
  let count = 0
  server.on("connection", (socket: Socket) => {
    count += 1
    open.add(socket)
    socket.on("error", () => undefined).once("close", () => open.delete(socket))
  })
  await once(server.listen(0, host), "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return {
    port: address.port,
    open,
    count: () => count,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

/** Operator's proxy that connects every CONNECT to a local port, and records its requests. */
export type Upstream = TestServer & { url: URL; targets: string[]; credentials: unknown[] }

/**
 * Starts an operator's proxy: tests reach "public" hosts through it, and nothing leaves the
 * machine.
 */
export async function startUpstream(portOf: (target: string) => number | null): Promise<Upstream> {
  const targets: string[] = []
  const credentials: unknown[] = []
  const server = createServer()
  server.on("connect", (request, client: Duplex, head) => {
    const target = request.url ?? ""
    targets.push(target)
    credentials.push(request.headers["proxy-authorization"])
    client.on("error", () => undefined)
    const port = portOf(target)
    if (port === null) {
      client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")
      return
    }
    const outside = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n")
      outside.write(head)
      client.pipe(outside).pipe(client)
    })
    outside.on("error", () => client.destroy()).once("close", () => client.destroy())
    client.once("close", () => outside.destroy())
  })
  const listening = await listen(server)
  const url = new URL(`http://127.0.0.1:${listening.port}`)
  return { ...listening, url, targets, credentials }
}

/** Returns a dial for tests: this machine has no addresses of its own except private ones. */
export function testDial(options: Partial<DialOptions> = {}): DialFunction {
  return createDialFunction({
    allowedHosts: [],
    upstream: null,
    readOwn: () => [],
    resolve: to(PUBLIC),
    ...options,
  })
}

export async function startProxy(
  dial: DialFunction,
  options: Partial<ToolProxyOptions> = {},
): Promise<ToolProxy> {
  const folder = await mkdtemp(join(tmpdir(), "egress-"))
  const signal = new AbortController().signal
  const socketPath = join(folder, "proxy")
  const proxy = await startToolProxy({
    socketPath,
    uid: null,
    dial,
    bytesMax: 1e9,
    signal,
    ...options,
  })
  return {
    ...proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sends raw bytes to a proxy, and reads its whole response. */
export async function send(proxy: ToolProxy, ...lines: string[]): Promise<string> {
  const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
  socket.on("error", () => undefined)
  socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  return await text(socket).catch((error: unknown) => String(error))
}

/** Sends a request for a URL in absolute form; returns the head and body of the response. */
export async function get(proxy: ToolProxy, url: string, ...headers: string[]): Promise<string> {
  return await send(proxy, `GET ${url} HTTP/1.1`, "Host: tool", "Connection: close", ...headers)
}

/** Opens a tunnel; the next bytes on the socket are the proxy's response. */
export function openTunnel(proxy: ToolProxy, authority: string): Socket {
  const socket = connect(proxy.socketPath)
  socket.on("error", () => undefined)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  return socket
}

/** Opens a TCP port that leads to a proxy, for tools without UNIX sockets. */
export async function forward(proxy: ToolProxy): Promise<TestServer> {
  return await serveBytes((client) => {
    const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
    socket.on("error", () => client.destroy())
    client.pipe(socket).pipe(client)
  })
}

/** Resolves when a socket is closed, with or without an error. */
export async function gone(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => void socket.once("close", () => resolve()).resume())
}
