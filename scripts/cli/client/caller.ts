import { Agent, request } from "node:http"
import type { ClientRequest, IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"

/** Request body of a known length, whose chunks are generated while it is sent. */
export type SizedRequestBody = { type: string; sizeBytes: number; chunks: Iterable<Uint8Array> }

export type CallerResponse = { status: number; link: string | undefined; text: string }

/** HTTP client of one origin that keeps its connections open between requests. */
export type ApiCaller = {
  /** Sends a request and reads the whole response. Throws if its status is 400 or above. */
  ask(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: SizedRequestBody,
    more?: Record<string, string>,
  ): Promise<CallerResponse>
  /**
   * Sends a GET, or a POST with a body. Returns the response as a stream, which the caller can read
   * slowly.
   */
  open(path: string, body?: SizedRequestBody): Promise<IncomingMessage>
  close(): void
}

export function createApiCaller(origin: string, headers: Record<string, string> = {}): ApiCaller {
  const agent = new Agent({ keepAlive: true })
  function begin(method: string, path: string, body?: SizedRequestBody, more = {}): ClientRequest {
    return request(new URL(path, origin), {
      agent,
      method,
      headers: {
        ...headers,
        ...more,
        ...(body && { "content-type": body.type, "content-length": body.sizeBytes }),
      },
    })
  }
  return {
    async ask(method, path, body, more) {
      const outgoing = begin(method, path, body, more)
      const [incoming] = await Promise.all([answerOf(outgoing), send(outgoing, body)])
      const answer = {
        status: incoming.statusCode ?? 0,
        link: String(incoming.headers["link"] ?? ""),
        text: await text(incoming),
      }
      if (answer.status < 400) return answer
      throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`)
    },
    async open(path, body) {
      const outgoing = begin(body ? "POST" : "GET", path, body)
      const [incoming] = await Promise.all([answerOf(outgoing), send(outgoing, body)])
      return incoming
    },
    close: () => agent.destroy(),
  }
}

/** Returns a request body with `value` as JSON. */
export function makeJsonBody(value: unknown): SizedRequestBody {
  const bytes = Buffer.from(JSON.stringify(value))
  return { type: "application/json", sizeBytes: bytes.byteLength, chunks: [bytes] }
}

/** Returns the multipart body of POST /v1/files with a file. */
export function makeFileBody(
  name: string,
  file: Pick<SizedRequestBody, "sizeBytes" | "chunks">,
): SizedRequestBody {
  const boundary = `lathe-${crypto.randomUUID()}`
  const disposition = `content-disposition: form-data; name="file"; filename="${name}"`
  const head = Buffer.from(`--${boundary}\r\n${disposition}\r\n\r\n`)
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  function* chunks(): Generator<Uint8Array> {
    yield head
    yield* file.chunks
    yield end
  }
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.byteLength + file.sizeBytes + end.byteLength,
    chunks: chunks(),
  }
}

async function answerOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject)
  })
}

async function send(outgoing: ClientRequest, body: SizedRequestBody | undefined): Promise<void> {
  if (body && !Array.isArray(body.chunks)) {
    await pipeline(Readable.from(body.chunks), outgoing)
    return
  }
  outgoing.end(body && Buffer.concat(Array.from(body.chunks)))
}
