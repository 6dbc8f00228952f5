import { once } from "node:events"
import { createServer } from "node:net"
import type { Socket } from "node:net"

/**
 * Canary: a server at an address that the tested program must not call. The server counts its
 * connections.
 */
export type CanaryServer = AsyncDisposable & {
  address: string
  port: number
  /** Origin of the server, as `http://ADDRESS:PORT`. */
  origin: string
  /** Address and port of the server, as `ADDRESS:PORT`. */
  host: string
  url(path: string): string
  /** Returns the number of TCP connections to this server. */
  connections(): number
  /** First bytes that each connection received, at most 500. */
  heard: string[]
  close(): Promise<void>
}

const SECRET = "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 6\r\n\r\nsecret"

/** Starts a canary server, which responds to every request with a secret. */
export async function startCanaryServer(
  options: { address?: string; port?: number; onConnection?: () => void } = {},
): Promise<CanaryServer> {
  const sockets = new Set<Socket>()
  const heard: string[] = []
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    options.onConnection?.()
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
    socket.once("data", (bytes) => {
      heard.push(bytes.toString("latin1").slice(0, 500))
      socket.end(SECRET)
    })
  })
  server.listen(options.port ?? 0, options.address ?? "127.0.0.1")
  await once(server, "listening")
  const bound = server.address()
  if (bound === null || typeof bound === "string") throw new Error("a TCP server has no port")
  const host = `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`
  async function close(): Promise<void> {
    if (!server.listening) return
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, "close")
  }
  return {
    address: bound.address,
    port: bound.port,
    origin: `http://${host}`,
    host,
    url: (path) => new URL(path, `http://${host}`).href,
    connections: () => connections,
    heard,
    close,
    [Symbol.asyncDispose]: close,
  }
}
