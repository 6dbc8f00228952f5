import { request as requestHttp } from "node:http"
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http"
import { request as requestHttps } from "node:https"
import type { LookupFunction } from "node:net"
import { pipeline } from "node:stream/promises"
import { OUTBOUND_ERROR_HEADER, OUTBOUND_URL_HEADER } from "../../src/contract/outbound.ts"
import { checkUserUrl, isAllowedHost, isPublicAddress } from "../../src/contract/user-url.ts"
import { readOwnAddresses } from "./own-addresses.ts"
import { resolveHost } from "./resolve-host.ts"
import type { Address, Resolve } from "./resolve-host.ts"

const IDLE_MS_MAX = 60_000

/** Hop-by-hop headers, and those that the local runtime adds for its own use. */
const OWN_HEADERS =
  /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|mf-.*|cf-.*|lathe-outbound-.*)$/i

/** A host that was not reached; the message may be shown to the owner of the URL. */
class Unreachable extends Error {}

export type OutboundOptions = {
  /** Hosts (`host` or `host:port`) that may be reached though they are not public. */
  allowedHosts: readonly string[]
  /** Whether every other host is refused, without a look-up of its name. */
  refusesPublicHosts?: boolean
  resolve?: Resolve
  /** The addresses of this machine, as ranges; read again for every connection. */
  readOwn?: () => readonly string[]
}

/**
 * Makes the handler that every fetch of the Worker passes: the host is resolved here, refused where
 * any of its addresses is not public, or this machine's own, and it is not in `allowedHosts`, and the connection goes to an
 * address that was checked. Redirects are passed on, not followed.
 */
export function makeOutbound(options: OutboundOptions) {
  return async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    try {
      const url = readUrl(incoming, options.allowedHosts)
      const addresses = await findAddresses(url, options)
      await relay(connect(url, addresses, incoming), incoming, answer)
    } catch (error) {
      if (answer.headersSent) answer.destroy()
      else refuse(answer, error)
    }
  }
}

function readUrl(incoming: IncomingMessage, allowedHosts: readonly string[]): URL {
  const checked = checkUserUrl(String(incoming.headers[OUTBOUND_URL_HEADER]), allowedHosts)
  if ("error" in checked) throw new Unreachable(checked.error)
  return checked.url
}

async function findAddresses(url: URL, options: OutboundOptions): Promise<Address[]> {
  const { allowedHosts, refusesPublicHosts = false } = options
  const { resolve = resolveHost, readOwn = readOwnAddresses } = options
  const isAllowed = isAllowedHost(url, allowedHosts)
  if (refusesPublicHosts && !isAllowed) throw new Unreachable("this service calls no public host")
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const addresses = await resolve(host, isAllowed).catch(() => [])
  if (addresses.length === 0) throw new Unreachable("the host has no address")
  if (isAllowed) return addresses
  const own = readOwn()
  if (addresses.every(({ address }) => isPublicAddress(address, own))) return addresses
  throw new Unreachable("the host resolves to a private address")
}

/** Opens a new connection to one of these addresses. */
function connect(url: URL, addresses: Address[], incoming: IncomingMessage): ClientRequest {
  const request = url.protocol === "https:" ? requestHttps : requestHttp
  return request(url, {
    agent: false,
    headers: carriedHeaders(incoming),
    lookup: pinned(addresses),
    method: incoming.method ?? "GET",
    timeout: IDLE_MS_MAX,
  })
}

function pinned(addresses: Address[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses
    if (options.all) done(null, addresses)
    else done(null, first?.address ?? "", first?.family)
  }
}

/** Both directions at once, each at the pace of its reader; a side that closes ends the other. */
async function relay(
  outgoing: ClientRequest,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  answer.once("close", () => outgoing.destroy())
  outgoing.once("timeout", () => outgoing.destroy(new Unreachable("the host fell silent")))
  const arriving = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject)
  })
  // A receiver may answer without reading the whole request, or not be there at all: then the rest
  // is read and dropped, since Miniflare's server does not survive a request that is destroyed.
  outgoing.once("close", () => incoming.unpipe(outgoing).resume())
  incoming.pipe(outgoing)
  const response = await arriving
  answer.writeHead(response.statusCode ?? 502, carriedHeaders(response))
  await pipeline(response, answer)
}

function carriedHeaders(message: IncomingMessage): Record<string, string[]> {
  const headers = Object.entries(message.headersDistinct)
  const carried: Record<string, string[]> = {}
  for (const [name, values] of headers) {
    if (values && !OWN_HEADERS.test(name)) carried[name] = values
  }
  return carried
}

function refuse(answer: ServerResponse, error: unknown): void {
  answer.writeHead(502, { [OUTBOUND_ERROR_HEADER]: reasonOf(error) }).end()
}

function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return error.message
  const code = error instanceof Error && "code" in error ? String(error.code) : "no answer"
  return `the connection failed (${code})`
}
