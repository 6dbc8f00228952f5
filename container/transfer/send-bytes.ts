import { request as requestHttp } from "node:http"
import type { IncomingMessage } from "node:http"
import { request as requestHttps } from "node:https"
import { text } from "node:stream/consumers"

/**
 * Sends bytes as they lie in memory, where `fetch` copies them, and answers once the response is
 * there; its body is read as a text.
 */
export async function sendBytes(
  url: string,
  request: {
    method: string
    headers: Record<string, string>
    bytes: Uint8Array
    signal: AbortSignal
    /** Where the server listens, whatever the URL says. */
    socketPath: string | null
  },
): Promise<Response> {
  const { method, headers, bytes, signal, socketPath } = request
  signal.throwIfAborted()
  const open = url.startsWith("https:") ? requestHttps : requestHttp
  const outgoing = open(url, {
    method,
    headers: { ...headers, "content-length": bytes.length },
    signal,
    ...(socketPath !== null && { socketPath }),
  })
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject).end(bytes)
    })
    const body = await text(incoming)
    return new Response(body, { status: incoming.statusCode ?? 0 })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
