import { once } from "node:events"
import { isIP } from "node:net"
import type { Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { getHostWithoutBrackets, toEgressError } from "./dial.ts"
import type { DialFunction } from "./dial.ts"

/**
 * Opens a connection to the host of a URL, with TLS if the scheme is https. Throws an EgressError,
 * or the abort reason of the signal.
 */
export async function connectForRequest(
  url: URL,
  dial: DialFunction,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await dial(url, signal)
  return url.protocol === "https:" ? await secure(socket, url, signal) : socket
}

async function secure(socket: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = getHostWithoutBrackets(url).replace(/\.$/, "")
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const secured = connectTls({ socket, host, ...servername, ALPNProtocols: ["http/1.1"] })
  secured.on("error", () => undefined)
  try {
    await once(secured, "secureConnect", { signal })
    return secured
  } catch (error) {
    secured.destroy()
    socket.destroy()
    signal.throwIfAborted()
    throw toEgressError(error, `"${host}"`)
  }
}
