import { request as requestHttp } from "node:http"
import type { IncomingMessage } from "node:http"
import { request as requestHttps } from "node:https"
import { buffer } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"

type SmallRequest = {
  method: string
  headers: Record<string, string>
  /** None: the request has no body. */
  bytes?: Uint8Array | Blob | undefined
  signal: AbortSignal
  /** How long the connection may be without a byte in any direction. */
  idleMsMax: number
  /** Where the server listens, whatever the URL says. */
  socketPath: string | null
}

/** What a connection fails with that the server closed while it idled. */
const CLOSED = new Set(["ECONNRESET", "EPIPE"])

/**
 * Sends bytes as they lie in memory, where `fetch` copies them, or a Blob as it is read, and answers once the
 * whole response is there, which should be small.
 */
export async function sendBytes(url: string, request: SmallRequest): Promise<Response> {
  const { signal } = request
  signal.throwIfAborted()
  try {
    const incoming = await send(url, request)
    const body = await buffer(incoming)
    const status = incoming.statusCode ?? 0
    return new Response(body.length > 0 ? body : null, { status })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** A connection that was kept may be gone when it is used again: then another one is made. */
async function send(url: string, request: SmallRequest, isFresh = false): Promise<IncomingMessage> {
  const { method, headers, bytes, signal, idleMsMax, socketPath } = request
  const length = bytes instanceof Blob ? bytes.size : bytes?.length
  const open = url.startsWith("https:") ? requestHttps : requestHttp
  const outgoing = open(url, {
    method,
    headers: { ...headers, ...(length !== undefined && { "content-length": length }) },
    signal,
    ...(isFresh && { agent: false }),
    ...(socketPath !== null && { socketPath }),
  })
  outgoing.setTimeout(idleMsMax, () => {
    outgoing.destroy(new Error(`Nothing moved for ${idleMsMax / 1000} seconds.`))
  })
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject)
      if (bytes instanceof Blob) pipeline(bytes.stream(), outgoing).catch(reject)
      else outgoing.end(bytes)
    })
  } catch (error) {
    const isClosed = error instanceof Error && "code" in error && CLOSED.has(String(error.code))
    if (isFresh || !outgoing.reusedSocket || !isClosed || signal.aborted) throw error
    return await send(url, request, true)
  }
}
