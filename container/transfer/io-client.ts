import type { IncomingMessage } from "node:http"
import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { RunnerError } from "../failures.ts"
import type { RunnerSettings } from "../settings.ts"
import { openAnswer } from "./open-answer.ts"
import type { Opening } from "./open-answer.ts"
import { sendBytes } from "./send-bytes.ts"

export type IoRequest = {
  method?: "GET" | "PUT" | "POST"
  headers?: Record<string, string>
  body?: string | Blob | Uint8Array<ArrayBuffer>
  signal: AbortSignal
  /** Whether the answer is small, so that it may come as a whole; for a string or bytes it does. */
  isSmall?: boolean
  /** Statuses beside 2xx that whoever sends it has an answer to. */
  answered?: readonly number[]
}

/** HTTP client of one task for its inputs, outputs and reports at the Worker. */
export type IoClient = {
  /**
   * Sends one request; `path` begins with a slash. Returns a response of 2xx or `answered`. 410 kills the run and
   * throws its abort reason; other 4xx throw a RunnerError, which is final; the rest throws an Error.
   */
  fetch(path: string, request: IoRequest): Promise<Response>
  /** GETs what is read as it comes and as it was coded; of any status but 410, which does as above. */
  open(path: string, request: Opening): Promise<IncomingMessage>
}

/** What a transfer works with. */
export type TransferContext = { io: IoClient; signal: AbortSignal }

/** Statuses of 4xx that another attempt may turn into success. */
const RETRIABLE = new Set([408, 425, 429])

/**
 * Opens the client of one task; it aborts `kill` when the Worker no longer wants the task's run. What
 * is sent from memory goes by `ioSocket` where there is one, and so does what comes as a whole.
 */
export function openIoClient(
  order: TaskOrder,
  { boot, ioSocket }: Pick<RunnerSettings, "boot" | "ioSocket">,
  kill: AbortController,
): IoClient {
  const headers = {
    authorization: `Bearer ${order.io.token}`,
    "accept-encoding": "identity",
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [BOOT_HEADER]: boot,
  }
  function end(): void {
    kill.abort("gone")
    kill.signal.throwIfAborted()
  }
  return {
    async open(path, request) {
      const full = { ...request, headers: { ...headers, ...request.headers } }
      const answer = await openAnswer(order.io.origin + path, full, ioSocket)
      if (answer.statusCode === 410) {
        answer.destroy()
        end()
      }
      return answer
    },
    async fetch(path, { answered = [], ...request }) {
      const full = { ...request, headers: { ...headers, ...request.headers } }
      const response = await send(order.io.origin + path, full, ioSocket)
      if (response.ok || answered.includes(response.status)) return response
      await response.body?.cancel()
      if (response.status === 410) end()
      const method = request.method ?? "GET"
      const message = `The Worker answered ${response.status} to ${method} ${path}.`
      if (response.status === 507) {
        throw new RunnerError("disk_full", "The disk of the service has no room for the outputs.")
      }
      if (response.status < 500 && !RETRIABLE.has(response.status)) {
        throw new RunnerError("internal", message)
      }
      throw new Error(message)
    },
  }
}

async function send(url: string, request: IoRequest, ioSocket: string | null): Promise<Response> {
  const { method = "GET", headers = {}, body, signal, isSmall = body !== undefined } = request
  if (!isSmall || body instanceof Blob) return await fetch(url, { ...request, redirect: "error" })
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  return await sendBytes(url, { method, headers, bytes, signal, socketPath: ioSocket })
}
