import { once } from "node:events"
import { createServer } from "node:net"
import { CliError } from "./cli-error.ts"
import { isSystemError } from "./system-error.ts"

/** A port of the loopback interface that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  return await listenOnce("127.0.0.1", 0)
}

/** Throws a CliError where the service could not listen. */
export async function requirePort(host: string, port: number): Promise<void> {
  try {
    await listenOnce(host, port)
  } catch (error) {
    const inUse = isSystemError(error, "EADDRINUSE")
    const why = inUse ? "something else listens there" : String(error)
    const sentence = `Lathe cannot listen on port ${port} of ${host}: ${why}; set PORT to another one.`
    throw new CliError(sentence, { cause: error })
  }
}

async function listenOnce(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host)
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  return address.port
}
