import { STATUS_CODES } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream/promises"
import type { FailureCode } from "../../src/contract/failure.ts"
import { readWebUrl } from "../../src/contract/user-url.ts"
import { EgressError, hostOf, toEgressError } from "./dial.ts"
import { relay } from "./relay.ts"
import type { Traffic } from "./traffic.ts"

/** An answer with this header is the proxy's own; the header is the code of the refusal. */
const REFUSED_HEADER = "lathe-refused"

const REFUSAL_HEADERS = { "content-type": "text/plain; charset=utf-8" }

const STATUS: Partial<Record<FailureCode, number>> = {
  url_not_allowed: 403,
  too_large: 403,
  too_slow: 504,
}

/** `signal` aborts when the connection of the tool is gone. */
export type Way = { traffic: Traffic; signal: AbortSignal }

/** Serves a request for an http URL in absolute form, by a connection of its own to the URL's host. */
export async function passRequestOn(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { traffic, signal }: Way,
): Promise<void> {
  const target = textOf(incoming.url)
  if (/^(?:\/|\*|https:)/i.test(target)) {
    answer.writeHead(400).end("Expected a request for an absolute http URL, or CONNECT.")
    return
  }
  const url = readWebUrl(target)
  if (!url) return refuse(answer, traffic.note(notAllowed("expected an http URL")))
  let outside: Socket | null = null
  try {
    outside = await traffic.open(url, signal)
    await relay(url, incoming, answer, {
      socket: outside,
      signal,
      onResponse: (response) => traffic.watch(response),
    })
  } catch (error) {
    const failure = toEgressError(outside?.errored ?? error, nameOf(url))
    // Only a connection that idled breaks with an error of ours.
    if (answer.headersSent && failure === outside?.errored) traffic.note(failure)
    if (answer.headersSent || signal.aborted) answer.destroy()
    else refuse(answer, traffic.note(failure))
  } finally {
    outside?.destroy()
  }
}

/** Serves a CONNECT: once its host is reached, the connection is the tool's. */
export async function passTunnelOn(
  incoming: IncomingMessage,
  head: Buffer,
  { traffic, signal }: Way,
): Promise<void> {
  const client = incoming.socket
  client.on("error", () => undefined)
  const url = readAuthority(textOf(incoming.url))
  if (!url) return refuseTunnel(client, traffic.note(notAllowed("expected a host and a port")))
  const outside = await traffic.open(url, signal).catch((error: unknown) => {
    if (signal.aborted) client.destroy()
    else refuseTunnel(client, traffic.note(toEgressError(error, nameOf(url))))
    return null
  })
  if (!outside) return
  // A host that ends first waits for what its reader has not read yet.
  outside.allowHalfOpen = true
  client.write("HTTP/1.1 200 Connection established\r\n\r\n")
  if (head.length > 0) outside.write(head)
  traffic.watch(outside)
  // A tunnel also idles that a tool keeps for later; then nobody waits for the host.
  let isAwaited = false
  client.on("data", () => (isAwaited = true))
  outside.on("data", () => (isAwaited = false))
  // A side that breaks ends the other; why is for the tool to say.
  await Promise.allSettled([pipeline(client, outside), pipeline(outside, client)])
  if (isAwaited && outside.errored instanceof EgressError) traffic.note(outside.errored)
  outside.destroy()
  client.destroy()
}

function readAuthority(target: string): URL | null {
  const isAuthority = /^(?:\[[0-9a-f:.]+\]|[^[\]/?#@:]+):\d{1,5}$/i.test(target)
  return isAuthority ? readWebUrl(`https://${target}/`) : null
}

/** Node reads heads as Latin-1, and tools write UTF-8. */
function textOf(target = ""): string {
  return Buffer.from(target, "latin1").toString("utf8")
}

function nameOf(url: URL): string {
  return `"${hostOf(url)}"`
}

function notAllowed(reason: string): EgressError {
  return new EgressError("url_not_allowed", reason)
}

function refuse(answer: ServerResponse, { code, message }: EgressError): void {
  answer.writeHead(STATUS[code] ?? 502, { ...REFUSAL_HEADERS, [REFUSED_HEADER]: code }).end(message)
}

/** Written by hand, since Node lets an answer of a request before it keep the connection. */
function refuseTunnel(client: Socket, { code, message }: EgressError): void {
  const status = STATUS[code] ?? 502
  const headers = { ...REFUSAL_HEADERS, [REFUSED_HEADER]: code, connection: "close" }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  client.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${message}`)
  client.destroySoon()
}
