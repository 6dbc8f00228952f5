import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

const BODY_BYTES_MAX = 8 * 1024 * 1024

/** Makes a listener for node:http of a handler of web requests; bodies are buffered. */
export function toListener(handle: (request: Request) => Promise<Response>): RequestListener {
  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readBody(incoming)
    const response = body
      ? await handle(toRequest(incoming, body))
      : Response.json({ error: "The body is too large." }, { status: 413 })
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
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, String(value))
  }
  return new Request(new URL(incoming.url ?? "/", "http://runner"), {
    method: incoming.method ?? "GET",
    headers,
    ...(body.length > 0 && { body }),
  })
}
