import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

const BODY_BYTES_MAX = 8 * 1024 * 1024

/**
 * Handler of web-standard requests. `refuseByHeaders` may refuse a request before the body of the
 * request is read.
 */
export type RequestHandler = {
  refuseByHeaders(headers: Headers): Response | undefined
  fetch(request: Request): Promise<Response>
}

/**
 * Converts a handler of web-standard requests to a listener for node:http. Buffers the bodies of
 * requests and responses.
 */
export function toNodeRequestListener(handler: RequestHandler): RequestListener {
  async function answer(incoming: IncomingMessage): Promise<Response> {
    const body = await readBody(incoming)
    if (!body) return Response.json({ error: "The body is too large." }, { status: 413 })
    return await handler.fetch(toRequest(incoming, body))
  }
  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const refusal = handler.refuseByHeaders(toHeaders(incoming))
    if (refusal) outgoing.shouldKeepAlive = false
    const response = refusal ?? (await answer(incoming))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  }
  return (incoming, outgoing) => {
    respond(incoming, outgoing).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toRequest(incoming: IncomingMessage, body: Buffer<ArrayBuffer>): Request {
  const headers = toHeaders(incoming)
  return new Request(new URL(incoming.url ?? "/", "http://runner"), {
    method: incoming.method ?? "GET",
    headers,
    ...(body.length > 0 && { body }),
  })
}

function toHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, String(value))
  }
  return headers
}
