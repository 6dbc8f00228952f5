import { request } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream/promises"

const HEAD_BYTES_MAX = 64 * 1024

/** Matches the names of hop-by-hop headers, which a proxy must not forward. */
const HOP_BY_HOP =
  /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i

export type RelayOptions = {
  /** Open connection to the host of the URL, used for this request only. */
  socket: Socket
  /** Signal that aborts when the requester disconnects. */
  signal: AbortSignal
  /** Matches the names of headers that are not forwarded, in addition to the hop-by-hop headers. */
  drop?: RegExp
  onResponse?: (response: IncomingMessage) => void
}

/**
 * Forwards a request to a URL, and the response back to the requester. Both bodies stream at the
 * same time with backpressure; if one side closes, the other side ends. Throws the error of either
 * side, even after the response has begun.
 */
export async function relayRequest(
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
  const pendingResponse = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).on("error", reject)
  })
  // If the host responds early or closes the connection, reads and discards the rest of the request
  // instead of destroying the request, which would crash the HTTP server of Miniflare.
  outgoing.once("close", () => incoming.unpipe(outgoing).resume())
  incoming.pipe(outgoing)
  const response = await pendingResponse
  onResponse?.(response)
  answer.writeHead(
    response.statusCode ?? 502,
    response.statusMessage,
    carriedHeaders(response, drop),
  )
  // Sends the response headers at once. By default, Node sends the headers with the first bytes of
  // the body.
  answer.flushHeaders()
  await pipeline(response, answer)
}

/**
 * Returns the header that keeps chunked transfer encoding for a request body of unknown length.
 * Without the header, Node would assume for some methods that the request has no body.
 */
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
