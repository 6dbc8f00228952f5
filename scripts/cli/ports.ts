import { once } from "node:events"
import { createServer } from "node:net"

/** Returns a port of the loopback interface on which no process listens at this moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return address.port
}
