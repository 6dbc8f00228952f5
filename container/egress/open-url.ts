import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { PrivateHeaders } from "../../src/contract/urls/private-headers.ts"
import { connectForRequest } from "./connect-for-request.ts"
import { EgressError, getHostWithoutBrackets, toEgressError } from "./dial.ts"
import type { DialFunction } from "./dial.ts"

const REDIRECTS_MAX = 5
const HEAD_BYTES_MAX = 64 * 1024
const HEAD_MS_MAX = 20_000
const IDLE_MS_MAX = 60_000
const REDIRECTS = [301, 302, 303, 307, 308]

const DEFAULT_HEADERS = {
  accept: "*/*",
  "accept-encoding": "identity",
  "user-agent": "Mozilla/5.0 (compatible; Lathe)",
}

export type UrlRequestOptions = {
  dial: DialFunction
  /**
   * Request headers in addition to the default headers. A header with the name of a default header
   * replaces the default.
   */
  headers?: Record<string, string>
  /**
   * Request headers that are sent only to the origin of `url`. After a redirect to another origin,
   * the headers are no longer sent.
   */
  privateHeaders?: PrivateHeaders | undefined
  redirectsMax?: number
  /**
   * Signal that aborts the request or, later, the reading of the response body. The resulting error
   * is the abort reason.
   */
  signal: AbortSignal
  /**
   * Called with the URL of each redirect before the next request. The callback may throw to refuse
   * the URL.
   */
  onRedirect?: (url: URL) => void
  /** Timeout for the arrival of the response headers, in milliseconds. */
  headMsMax?: number
  /** Maximum time for which the host may send nothing of the response body, in milliseconds. */
  idleMsMax?: number
}

/**
 * Sends a GET request and follows redirects. `dial` checks each URL and opens the connection.
 * Returns the first response that is not a redirect, with any status. Does not decode the body,
 * which may be compressed. Throws an EgressError if no response arrives. Reading the body fails
 * with an EgressError if the host stops sending.
 */
export async function requestUrlWithRedirects(
  url: URL,
  options: UrlRequestOptions,
): Promise<{ url: URL; response: IncomingMessage }> {
  const { redirectsMax = REDIRECTS_MAX, onRedirect } = options
  const shared = Object.entries({ ...DEFAULT_HEADERS, ...options.headers })
  let headers = toHeaders([...shared, ...(options.privateHeaders ?? [])])
  const visited = new Set<string>()
  let current = url
  while (true) {
    visited.add(current.href)
    const response = await get(current, headers, options)
    const next = redirectOf(response, current)
    if (!next) return { url: current, response }
    response.destroy()
    if (visited.has(next.href)) {
      throw new EgressError("too_many_redirects", "the redirects lead back to where they began")
    }
    if (visited.size > redirectsMax) {
      throw new EgressError("too_many_redirects", `there are more than ${redirectsMax} redirects`)
    }
    if (next.origin !== current.origin) headers = toHeaders(shared)
    onRedirect?.(next)
    current = next
  }
}

/**
 * Converts pairs of names and values to headers. A later pair replaces an earlier pair with the
 * same name.
 */
function toHeaders(pairs: readonly (readonly [string, string])[]): Headers {
  const headers = new Headers()
  for (const [name, value] of pairs) headers.set(name, value)
  return headers
}

async function get(
  url: URL,
  headers: Headers,
  options: UrlRequestOptions,
): Promise<IncomingMessage> {
  const { dial, signal, headMsMax = HEAD_MS_MAX, idleMsMax = IDLE_MS_MAX } = options
  const who = `"${getHostWithoutBrackets(url)}"`
  const limit = AbortSignal.timeout(headMsMax)
  try {
    const joint = AbortSignal.any([signal, limit])
    const socket = await connectForRequest(url, dial, joint)
    const response = await ask(url, headers, socket, joint)
    destroyOnAbort(signal, response)
    socket.setTimeout(idleMsMax, () => endIfSilent(response, who, idleMsMax))
    return response
  } catch (error) {
    signal.throwIfAborted()
    throw toEgressError(limit.aborted ? limit.reason : error, who)
  }
}

/** Sends the request on an open connection. Returns the response when its headers have arrived. */
async function ask(
  url: URL,
  headers: Headers,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const outgoing = request({
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...Object.fromEntries(headers) },
    createConnection: () => socket,
    maxHeaderSize: HEAD_BYTES_MAX,
  })
  function stop() {
    outgoing.destroy(reasonOf(signal))
  }
  signal.addEventListener("abort", stop)
  try {
    return await new Promise((done, failed) => {
      outgoing.once("response", done).on("error", failed).end()
    })
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | null {
  if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return null
  // Decodes the header Location again: servers send UTF-8, but Node has decoded the header as
  // Latin-1.
  const location = Buffer.from(headers.location, "latin1").toString("utf8")
  const url = URL.parse(location, from.href)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EgressError(
      "url_not_allowed",
      "a redirect leads to something other than an http or https URL",
    )
  }
  url.hash = ""
  return url
}

function destroyOnAbort(signal: AbortSignal, response: IncomingMessage): void {
  function stop() {
    response.destroy(reasonOf(signal))
  }
  signal.addEventListener("abort", stop)
  response.once("close", () => signal.removeEventListener("abort", stop))
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/**
 * Ends a response whose host has sent nothing for the duration of the timeout. Restarts the timeout
 * if received bytes are still unread, because then the reader of the body is slow, not the host.
 */
function endIfSilent(response: IncomingMessage, who: string, idleMs: number): void {
  const reason = `${who} sent nothing for ${idleMs / 1000} seconds`
  if (response.readableLength === 0) response.destroy(new EgressError("too_slow", reason))
  else response.socket.setTimeout(idleMs)
}
