import { createServer, connect } from "node:net"
import type { Socket } from "node:net"
import { once } from "node:events"

/** TCP proxy that cuts connections in the middle of what a client sends. */
export type CuttingProxy = AsyncDisposable & {
  origin: string
  /** Sets the port to which connections go. */
  aim(port: number): void
  /** Cuts the next connections after these numbers of bytes from the client. */
  cutAfter(bytes: number[]): void
  /** Number of cuts so far. */
  cuts(): number
}

export async function startCuttingProxy(): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let target = 0
  let planned: number[] = []
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    let sent = 0
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on("data", (bytes) => {
      sent += bytes.length
      const [limit = Infinity] = planned
      if (sent > limit) {
        planned = planned.slice(1)
        cuts += 1
        upstream.write(bytes.subarray(0, bytes.length - (sent - limit)), () => upstream.destroy())
        client.destroy()
      } else if (!upstream.write(bytes)) client.pause()
    })
    upstream.on("drain", () => client.resume())
    upstream.pipe(client)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the proxy has no port")
  return {
    origin: `http://127.0.0.1:${address.port}`,
    aim(port) {
      target = port
    },
    cutAfter(bytes) {
      planned = bytes
    },
    cuts: () => cuts,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}
