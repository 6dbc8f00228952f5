import { isIP } from "node:net"
import type { IncomingMessage } from "node:http"

/**
 * The address that a request comes from: of who is connected, or as a proxy in front says it in the
 * header of the settings. What that appended to what its caller sent is last.
 */
export function clientAddressOf(incoming: IncomingMessage, header: string | undefined): string {
  const own = incoming.socket.remoteAddress ?? ""
  if (header === undefined) return own
  const said = incoming.headers[header]
  const last = String(said ?? "")
    .split(",")
    .at(-1)
    ?.trim()
  return last !== undefined && isIP(last) > 0 ? last : own
}
