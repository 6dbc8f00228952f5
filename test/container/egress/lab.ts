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
import { makeDial } from "../../../container/egress/dial.ts"
import type { Dial, DialOptions } from "../../../container/egress/dial.ts"
import { openProxy } from "../../../container/egress/proxy.ts"
import type { Proxy, ProxyOptions } from "../../../container/egress/proxy.ts"
import type { Resolve } from "../../../container/egress/resolve-host.ts"

/** An address that counts as public; nothing is ever sent to it. */
export const PUBLIC = "93.184.216.34"

/** A server on the loopback interface, with the sockets that are open at it. */
export type TestServer = AsyncDisposable & {
  port: number
  open: ReadonlySet<Socket>
  count(): number
}

/** Stands in for the name servers: every host has these addresses. */
export function to(...addresses: string[]): Resolve {
  const found = addresses.map(
    (address) => ({ address, family: address.includes(":") ? 6 : 4 }) as const,
  )
  return () => Promise.resolve(found)
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  return await listen(createServer(listener))
}

/** A server that speaks by bytes; what it does not listen to, it reads and drops. */
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

/** An operator's proxy that takes every CONNECT to one local port, and what it was asked. */
export type Upstream = TestServer & { url: URL; targets: string[]; credentials: unknown[] }

/** With it the tests reach "public" hosts, and nothing leaves the machine. */
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

/** A dial for tests: no address is this machine's own but those that are private anyway. */
export function testDial(options: Partial<DialOptions> = {}): Dial {
  return makeDial({
    allowedHosts: [],
    upstream: null,
    readOwn: () => [],
    resolve: to(PUBLIC),
    ...options,
  })
}

export async function startProxy(dial: Dial, options: Partial<ProxyOptions> = {}): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "egress-"))
  const signal = new AbortController().signal
  const socketPath = join(folder, "proxy")
  const proxy = await openProxy({ socketPath, uid: null, dial, bytesMax: 1e9, signal, ...options })
  return {
    ...proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sends bytes to a proxy, as they are, and reads all that comes back. */
export async function send(proxy: Proxy, ...lines: string[]): Promise<string> {
  const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
  socket.on("error", () => undefined)
  socket.write(`${lines.join("\r\n")}\r\n\r\n`)
  return await text(socket).catch((error: unknown) => String(error))
}

/** A request for a URL in absolute form; what the answer's head and body are. */
export async function get(proxy: Proxy, url: string, ...headers: string[]): Promise<string> {
  return await send(proxy, `GET ${url} HTTP/1.1`, "Host: tool", "Connection: close", ...headers)
}

/** Opens a tunnel; the socket's next bytes are the answer of the proxy. */
export function openTunnel(proxy: Proxy, authority: string): Socket {
  const socket = connect(proxy.socketPath)
  socket.on("error", () => undefined)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  return socket
}

/** Lets tools that know no UNIX sockets reach a proxy: a TCP port that leads to it. */
export async function forward(proxy: Proxy): Promise<TestServer> {
  return await serveBytes((client) => {
    const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
    socket.on("error", () => client.destroy())
    client.pipe(socket).pipe(client)
  })
}

/** Resolves when a socket is gone, whether it broke or ended. */
export async function gone(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => void socket.once("close", () => resolve()).resume())
}
