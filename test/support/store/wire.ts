import { once } from "node:events"
import { connect, createServer } from "node:net"
import type { Socket } from "node:net"

/**
 * TCP proxy in front of a server. Tests can delay the responses of the server and close the
 * connections. The bytes are not changed.
 */
export type TcpTestProxy = AsyncDisposable & {
  endpoint: string
  /** Texts of the requests that passed, in order. */
  requests: string[]
  /** Holds responses back once the server has sent this number of bytes. Resolves at that time. */
  holdAfter(bytes: number): Promise<void>
  /** Returns the number of open connections. */
  connections(): number
  /** Closes all connections, and stops holding the responses of later connections. */
  cut(): void
}

/** Starts a TCP proxy to a port of the loopback interface. */
export async function startTcpTestProxy(port: number): Promise<TcpTestProxy> {
  const requests: string[] = []
  const open = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  let held = Promise.withResolvers<void>()
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      open.add(socket)
      socket.on("error", () => undefined)
      socket.once("close", () => {
        open.delete(socket)
        other.destroy()
      })
    }
    near.on("data", (chunk: Buffer) => {
      requests.push(chunk.toString("latin1"))
      far.write(chunk)
    })
    far.on("data", (chunk: Buffer) => {
      left -= chunk.length
      if (left > 0) {
        if (near.write(chunk)) return
        far.pause()
        near.once("drain", () => far.resume())
        return
      }
      far.pause()
      held.resolve()
    })
    far.once("end", () => near.end())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    holdAfter(bytes) {
      left = bytes
      held = Promise.withResolvers()
      return held.promise
    },
    connections: () => open.size / 2,
    cut() {
      left = Number.POSITIVE_INFINITY
      for (const socket of open) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}
