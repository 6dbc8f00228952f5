import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Web server on loopback with responses of a test. */
export type SourceServer = AsyncDisposable & {
  origin: string
  /** Requests so far, in order. */
  requests: IncomingMessage[]
}

/** Responds to a request; `count` is its number, from 1. */
export type Answer = (
  incoming: IncomingMessage,
  answer: ServerResponse,
  count: number,
) => void | Promise<void>

export async function startSource(handler: Answer): Promise<SourceServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((incoming, answer) => {
    requests.push(incoming)
    void handler(incoming, answer, requests.length)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const address = server.address()
  const port = typeof address === "object" ? address?.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/** Returns binary bytes that differ at every position. */
export function makeBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = 1
  for (let at = 0; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    bytes.writeInt32LE(state, at)
  }
  if (length > 0) bytes[0] = 0
  return bytes
}

/** Returns the start of the range of a request; null without one. */
export function rangeStart({ headers }: IncomingMessage): number | null {
  const start = /^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1]
  return start === undefined ? null : Number(start)
}

/** Sends the requested range, or the whole, as a server with range support. */
export function sendRest(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { bytes, headers = {}, cutAt }: SentSource,
): void {
  const from = rangeStart(incoming) ?? 0
  const isRange = rangeStart(incoming) !== null
  answer.writeHead(isRange ? 206 : 200, {
    "content-type": "video/mp4",
    "content-length": bytes.length - from,
    ...(isRange && { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    ...headers,
  })
  if (cutAt === undefined || cutAt <= from) {
    answer.end(bytes.subarray(from))
    return
  }
  answer.write(bytes.subarray(from, cutAt), () => {
    setTimeout(() => answer.socket?.resetAndDestroy(), 20)
  })
}

export type SentSource = {
  bytes: Buffer
  headers?: Record<string, string>
  /** Position in the whole at which the connection is reset. */
  cutAt?: number | undefined
}
