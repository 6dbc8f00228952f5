import { request } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream/promises"

const HEAD_BYTES_MAX = 64 * 1024

/** Headers that are for one connection, not for the whole way. */
const HOP_BY_HOP =
  /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i

export type RelayOptions = {
  /** An open connection to the URL's host, which is used up. */
  socket: Socket
  /** Aborts when whoever asked is gone. */
  signal: AbortSignal
  /** Further headers that are not passed on. */
  drop?: RegExp
  onResponse?: (response: IncomingMessage) => void
}

/**
 * Sends a request on to a URL and its answer back, both directions at once, each at the pace of its
 * reader; a side that closes ends the other. Throws what breaks it, also after the head of the
 * answer.
 */
export async function relay(
  url: URL,
  incoming: IncomingMessage,
  answer: ServerResponse,
  { socket, signal, drop, onResponse }: RelayOptions,
): Promise<void> {
  const outgoing = request({
    method: incoming.method ?? "GET",
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...carriedHeaders(incoming, drop), ...framingOf(incoming) },
    createConnection: () => socket,
    maxHeaderSize: HEAD_BYTES_MAX,
    signal,
  })
  const arriving = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).on("error", reject)
  })
  // A receiver may answer without reading the whole request, or not be there at all: then the rest
  // is read and dropped, since Miniflare's server does not survive a request that is destroyed.
  outgoing.once("close", () => incoming.unpipe(outgoing).resume())
  incoming.pipe(outgoing)
  const response = await arriving
  onResponse?.(response)
  answer.writeHead(
    response.statusCode ?? 502,
    response.statusMessage,
    carriedHeaders(response, drop),
  )
  // Node holds a head back until the body begins.
  answer.flushHeaders()
  await pipeline(response, answer)
}

/** A body of unknown length stays one, also with a method that Node expects no body of. */
function framingOf({ headers }: IncomingMessage): Record<string, string> {
  return headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" }
}

function carriedHeaders(message: IncomingMessage, drop?: RegExp): Record<string, string[]> {
  const named = (message.headers.connection ?? "").toLowerCase().split(/\s*,\s*/)
  const carried: Record<string, string[]> = {}
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    const isDropped = HOP_BY_HOP.test(name) || named.includes(name) || drop?.test(name)
    if (values && !isDropped) carried[name] = values
  }
  return carried
}
