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
  /** Statuses beside 2xx that whoever sends it has an answer to. */
  answered?: readonly number[]
}

/** HTTP client of one task for its inputs, outputs and reports at the Worker. */
export type IoClient = {
  /**
   * Sends one request, whose answer comes as a whole; `path` begins with a slash. Returns a response of 2xx or
   * `answered`. 410 kills the run and throws its abort reason; other 4xx throw a RunnerError, which is final; the
   * rest throws an Error, as a connection does on which nothing moves for `transferIdleMs`.
   */
  fetch(path: string, request: IoRequest): Promise<Response>
  /** GETs what is read as it comes; throws as `fetch` does, also while it is read. */
  read(path: string, request: Pick<IoRequest, "headers" | "signal">): Promise<IncomingMessage>
  /** GETs what is read as it comes and as it was coded; of any status but 410, which does as above. */
  open(path: string, request: Opening): Promise<IncomingMessage>
}

/** What a transfer works with. */
export type TransferContext = { io: IoClient; signal: AbortSignal }

/** Statuses of 4xx that another attempt may turn into success. */
const RETRIABLE = new Set([408, 425, 429])

/**
 * Opens the client of one task; it aborts `kill` when the Worker no longer wants the task's run. All but what is
 * read as it comes goes by `ioSocket` where there is one.
 */
export function openIoClient(
  order: TaskOrder,
  { boot, ioSocket, transferIdleMs }: Pick<RunnerSettings, "boot" | "ioSocket" | "transferIdleMs">,
  kill: AbortController,
): IoClient {
  const headers = {
    authorization: `Bearer ${order.io.token}`,
    "accept-encoding": "identity",
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [BOOT_HEADER]: boot,
  }
  async function open(path: string, request: Opening): Promise<IncomingMessage> {
    const full = { ...request, headers: { ...headers, ...request.headers } }
    const answer = await openAnswer(order.io.origin + path, full, ioSocket)
    if (answer.statusCode !== 410) return answer
    answer.destroy()
    return end()
  }
  function end(): never {
    kill.abort("gone")
    throw kill.signal.reason
  }
  return {
    open,
    async read(path, request) {
      const opening = { headers: {}, ...request, headMsMax: transferIdleMs }
      const answer = await open(path, opening)
      const status = answer.statusCode ?? 0
      if (status < 200 || status >= 300) {
        answer.destroy()
        throw failureOf(status, "GET", path)
      }
      answer.setTimeout(transferIdleMs, () => {
        answer.destroy(new Error(`No byte came for ${transferIdleMs / 1000} seconds.`))
      })
      return answer
    },
    async fetch(path, { answered = [], method = "GET", body, signal, ...request }) {
      const response = await sendBytes(order.io.origin + path, {
        method,
        headers: { ...headers, ...request.headers },
        bytes: typeof body === "string" ? Buffer.from(body) : body,
        signal,
        idleMsMax: transferIdleMs,
        socketPath: ioSocket,
      })
      const { status } = response
      if (response.ok || answered.includes(status)) return response
      return status === 410 ? end() : Promise.reject(failureOf(status, method, path))
    },
  }
}

/** What an answer means that is none of those that were wanted. */
function failureOf(status: number, method: string, path: string): Error {
  if (status === 507) {
    return new RunnerError("disk_full", "The disk of the service has no room for the outputs.")
  }
  const message = `The Worker answered ${status} to ${method} ${path}.`
  const isFinal = status < 500 && !RETRIABLE.has(status)
  return isFinal ? new RunnerError("internal", message) : new Error(message)
}
