import { ServerResponse } from "node:http"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { pipeline } from "node:stream/promises"
import type { FailureCode } from "../../src/contract/failure.ts"
import { readWebUrl } from "../../src/contract/user-url.ts"
import { EgressError, hostOf, toEgressError } from "./dial.ts"
import { relay } from "./relay.ts"
import type { Traffic } from "./traffic.ts"

/** An answer with this header is the proxy's own; the header is the code of the refusal. */
const REFUSED_HEADER = "lathe-refused"

const STATUS: Partial<Record<FailureCode, number>> = {
  url_not_allowed: 403,
  too_large: 403,
  too_slow: 504,
}

/** `signal` ends what is under way. */
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
  const joint = AbortSignal.any([signal, signalOf(answer)])
  let outside: Socket | null = null
  try {
    outside = await traffic.open(url, joint)
    await relay(url, incoming, answer, {
      socket: outside,
      onResponse: (response) => traffic.watch(response),
    })
  } catch (error) {
    if (joint.aborted || answer.headersSent) answer.destroy()
    else refuse(answer, traffic.note(toEgressError(outside?.errored ?? error, nameOf(url))))
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
  if (!url) return refuseTunnel(incoming, traffic.note(notAllowed("expected a host and a port")))
  const joint = AbortSignal.any([signal, signalOf(client)])
  const outside = await traffic.open(url, joint).catch((error: unknown) => {
    if (joint.aborted) client.destroy()
    else refuseTunnel(incoming, traffic.note(toEgressError(error, nameOf(url))))
    return null
  })
  if (!outside) return
  // A host that ends first waits for what its reader has not read yet.
  outside.allowHalfOpen = true
  client.write("HTTP/1.1 200 Connection established\r\n\r\n")
  if (head.length > 0) outside.write(head)
  traffic.watch(outside)
  // A side that breaks ends the other; why is for the tool to say.
  await Promise.allSettled([pipeline(client, outside), pipeline(outside, client)])
  outside.destroy()
  client.destroy()
}

/** Aborts when this side of a connection is gone. */
function signalOf(side: Socket | ServerResponse): AbortSignal {
  const gone = new AbortController()
  side.once("close", () => gone.abort())
  return gone.signal
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
  const headers = { "content-type": "text/plain; charset=utf-8", [REFUSED_HEADER]: code }
  answer.writeHead(STATUS[code] ?? 502, headers).end(message)
}

function refuseTunnel(incoming: IncomingMessage, error: EgressError): void {
  const answer = new ServerResponse(incoming)
  answer.assignSocket(incoming.socket)
  answer.shouldKeepAlive = false
  answer.once("finish", () => incoming.socket.destroySoon())
  refuse(answer, error)
}
