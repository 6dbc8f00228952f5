import type { IncomingMessage } from "node:http"
import { Problem } from "../../../src/http/problem.ts"
import { formatHost, isOwnHost, readHost } from "./hosts.ts"
import type { FrontAddress } from "./hosts.ts"

/** A target in absolute form, whose host counts more than that of the header (RFC 9112, 3.2.2). */
const ABSOLUTE = /^http:\/\/([^/?#]*)(.*)$/i

/** Which path of which of the service's hosts a request is for; a Problem where it is for none. */
export function readTarget(
  incoming: IncomingMessage,
  address: FrontAddress,
): { path: string; host: string } | Problem {
  const { url = "", headersDistinct, socket } = incoming
  const [named, ...others] = headersDistinct["host"] ?? []
  if (named === undefined || others.length > 0) return malformed("Send one Host header.")
  const { "transfer-encoding": encoding = "chunked" } = incoming.headers
  if (encoding.toLowerCase() !== "chunked") return malformed("The body may only be chunked.")
  const absolute = ABSOLUTE.exec(url)
  const path = normalize(absolute ? originForm(absolute[2] ?? "") : url)
  if (path === null) return malformed("The target of a request is a path.")
  const host = readHost(absolute?.[1] ?? named)
  if (!host) return malformed("Host is a name or an address, and perhaps a port.")
  if (isOwnHost(host, address, socket.localAddress ?? "")) return { path, host: formatHost(host) }
  return new Problem(
    "misdirected_request",
    `${formatHost(host)} is not a host of this service; its operator names one by PUBLIC_ORIGIN.`,
  )
}

function originForm(rest: string): string {
  return rest.startsWith("/") ? rest : `/${rest}`
}

/** Path and query as Cloudflare hands them to a Worker, without dot segments; null for no path. */
function normalize(target: string): string | null {
  if (!target.startsWith("/")) return null
  const url = URL.parse(`http://front${Buffer.from(target, "latin1").toString()}`)
  return url && url.pathname + url.search
}

function malformed(message: string): Problem {
  return new Problem("invalid_request", message)
}
