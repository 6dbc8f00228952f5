import { request } from "node:http"
import type { Agent, IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream"
import { dropRest, notUp, refuse } from "./refuse.ts"

/**
 * Headers of one connection and not of the message, those that frame it, which are written anew,
 * and those that the local runtime interprets.
 */
const OWN_HEADERS =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|mf-.*|cf-.*|lathe-outbound-.*)$/

/**
 * Where a request goes: connections to the Worker, and the path and the host that it is for; and the
 * address it comes from.
 */
export type Target = { agent: Agent; path: string; host: string; clientAddress: string }

/** Passes a request on and its answer back, each at the pace of its reader. */
export function relay(incoming: IncomingMessage, answer: ServerResponse, target: Target): void {
  const { host, clientAddress, ...way } = target
  const { method = "GET" } = incoming
  const outgoing = request({
    ...way,
    method,
    headers: requestHeaders(incoming, host, clientAddress),
  })
  const { shouldKeepAlive } = answer
  // A client that waits for leave to send its body may send none, or another request.
  if (incoming.headers.expect !== undefined) answer.shouldKeepAlive = false
  outgoing.on("continue", () => {
    answer.shouldKeepAlive = shouldKeepAlive
    answer.writeContinue()
  })
  outgoing.once("response", (response) => passBack(response, answer))
  outgoing.on("error", () => void refuse(incoming, answer, notUp("The service starts again")))
  // An answer may come before all of the body; what is left of that is read and dropped.
  answer.once("finish", () => {
    incoming.unpipe(outgoing)
    dropRest(incoming)
  })
  answer.once("close", () => outgoing.destroy())
  if (hasBody(incoming)) {
    // workerd closes a connection whose head is long in coming, also where only the body is.
    outgoing.flushHeaders()
    incoming.pipe(outgoing)
    return
  }
  incoming.resume()
  outgoing.end()
}

function passBack(response: IncomingMessage, answer: ServerResponse): void {
  const { statusCode = 502, statusMessage, headers } = response
  const { "content-length": length } = headers
  const framing = length === undefined ? [] : ["content-length", length]
  try {
    answer.writeHead(statusCode, statusMessage, [...carriedHeaders(response), ...framing])
  } catch {
    // A stored media type, say, may have bytes in it that no header can carry.
    answer.destroy()
    return
  }
  // What has no length may be events, whose reader is to know at once that it is heard.
  if (length === undefined) answer.flushHeaders()
  pipeline(response, answer, () => undefined)
}

function requestHeaders(incoming: IncomingMessage, host: string, clientAddress: string): string[] {
  const { "content-length": length, "transfer-encoding": encoding, expect } = incoming.headers
  return [
    "host",
    host,
    // As Cloudflare names it; a caller's own is not carried on.
    "cf-connecting-ip",
    clientAddress,
    ...carriedHeaders(incoming),
    ...(length === undefined ? [] : ["content-length", length]),
    ...(encoding === undefined ? [] : ["transfer-encoding", "chunked"]),
    ...(expect === undefined ? [] : ["expect", expect]),
  ]
}

/** Names and values in turn, as they came, without those of the connection. */
function carriedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const ofConnection = (headers.connection ?? "").toLowerCase().split(/[\s,]+/)
  return rawHeaders.filter((_, index) => {
    const name = rawHeaders[index - (index % 2)]?.toLowerCase() ?? ""
    return !OWN_HEADERS.test(name) && !ofConnection.includes(name)
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
}
