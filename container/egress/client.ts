import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { connectTo } from "./connect-to.ts"
import { EgressError, hostOf, toEgressError } from "./dial.ts"
import type { Dial } from "./dial.ts"

const REDIRECTS_MAX = 5
const HEAD_BYTES_MAX = 64 * 1024
const HEAD_MS_MAX = 20_000
const IDLE_MS_MAX = 60_000
const REDIRECTS = [301, 302, 303, 307, 308]

/** Headers that are for the first origin alone. */
const PRIVATE_HEADERS = ["authorization", "cookie", "origin", "proxy-authorization", "referer"]

const DEFAULT_HEADERS = {
  accept: "*/*",
  "accept-encoding": "identity",
  "user-agent": "Mozilla/5.0 (compatible; Lathe)",
}

export type OpenOptions = {
  dial: Dial
  /** In place of the defaults, or beside them; credentials are for the URL's own origin alone. */
  headers?: Record<string, string>
  redirectsMax?: number
  /** Ends the request, or its answer while that is read, with the signal's reason. */
  signal: AbortSignal
  /** Called with each URL that a redirect leads to, before it is asked; what it throws is thrown. */
  onHop?: (url: URL) => void
  /** How long the head of an answer may take. */
  headMsMax?: number
  /** How long a host may send nothing of a body. */
  idleMsMax?: number
}

/**
 * GETs a URL and follows its redirects, each checked as the first. The answer is of any status that
 * is no redirect, and its body as it was sent; a body of a host that falls silent fails with an
 * EgressError. Throws an EgressError where there is no answer.
 */
export async function openUrl(
  url: URL,
  options: OpenOptions,
): Promise<{ url: URL; response: IncomingMessage }> {
  const { redirectsMax = REDIRECTS_MAX, onHop } = options
  const headers = new Headers({ ...DEFAULT_HEADERS })
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
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
    if (next.origin !== current.origin) for (const name of PRIVATE_HEADERS) headers.delete(name)
    onHop?.(next)
    current = next
  }
}

async function get(url: URL, headers: Headers, options: OpenOptions): Promise<IncomingMessage> {
  const { dial, signal, headMsMax = HEAD_MS_MAX, idleMsMax = IDLE_MS_MAX } = options
  const who = `"${hostOf(url)}"`
  const limit = AbortSignal.timeout(headMsMax)
  try {
    const joint = AbortSignal.any([signal, limit])
    const socket = await connectTo(url, dial, joint)
    const response = await ask(url, headers, socket, joint)
    endWith(signal, response)
    socket.setTimeout(idleMsMax, () => endIfSilent(response, who, idleMsMax))
    return response
  } catch (error) {
    signal.throwIfAborted()
    throw toEgressError(limit.aborted ? limit.reason : error, who)
  }
}

/** Sends the request on a connection of its own and returns the answer when its head is there. */
async function ask(
  url: URL,
  headers: Headers,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const asking = request({
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...Object.fromEntries(headers) },
    createConnection: () => socket,
    maxHeaderSize: HEAD_BYTES_MAX,
  })
  function stop() {
    asking.destroy(reasonOf(signal))
  }
  signal.addEventListener("abort", stop)
  try {
    return await new Promise((done, failed) => {
      asking.once("response", done).on("error", failed).end()
    })
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | null {
  if (!REDIRECTS.includes(statusCode) || headers.location === undefined) return null
  // Node reads heads as Latin-1, and servers write UTF-8.
  const location = Buffer.from(headers.location, "latin1").toString("utf8")
  const url = URL.parse(location, from.href)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EgressError("url_not_allowed", "a redirect leads to what is no http or https URL")
  }
  url.hash = ""
  return url
}

function endWith(signal: AbortSignal, response: IncomingMessage): void {
  function stop() {
    response.destroy(reasonOf(signal))
  }
  signal.addEventListener("abort", stop)
  response.once("close", () => signal.removeEventListener("abort", stop))
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/** Silence counts while the reader waits: one that is slow itself leaves what has come unread. */
function endIfSilent(response: IncomingMessage, who: string, idleMs: number): void {
  const reason = `${who} sent nothing for ${idleMs / 1000} seconds`
  if (response.readableLength === 0) response.destroy(new EgressError("too_slow", reason))
  else response.socket.setTimeout(idleMs)
}
