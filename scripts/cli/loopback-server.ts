import { once } from "node:events"
import { createServer } from "node:http"
import type { RequestListener } from "node:http"

/** HTTP server on a free port of the loopback interface. */
export type LoopbackServer = AsyncDisposable & {
  origin: string
  port: number
  closeAllConnections(): void
}

/** Starts an HTTP server on loopback. Disposing of the server closes it and its connections. */
export async function startLoopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return {
    origin: `http://127.0.0.1:${address.port}`,
    port: address.port,
    closeAllConnections: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
