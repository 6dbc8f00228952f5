import { request as requestHttp } from "node:http"
import type { IncomingMessage } from "node:http"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../src/contract/protocol.ts"
import type { TaskOrder } from "../../src/contract/task.ts"
import { RunnerError } from "../task-failure.ts"
import type { RunnerSettings } from "../settings.ts"
import { request as requestHttps } from "node:https"
import { buffer } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"

export type RunIoRequest = {
  method?: "GET" | "PUT" | "POST"
  headers?: Record<string, string>
  body?: string | Blob | Uint8Array<ArrayBuffer>
  signal: AbortSignal
  /** Statuses other than 2xx for which the response is returned instead of an error. */
  acceptedStatuses?: readonly number[]
}

/**
 * HTTP client with which the run of one task exchanges inputs, outputs and reports with the Worker.
 */
export type RunIoClient = {
  /**
   * Sends a request and buffers the response. `path` begins with a slash. Returns a response with
   * status 2xx or a status in `acceptedStatuses`. Status 410, which means that the run has ended
   * for the Worker, kills the run, and the abort reason is thrown. For other final statuses (4xx),
   * throws a RunnerError. For all other statuses, and if the connection has no traffic for
   * `transferIdleMs`, throws an Error.
   */
  fetch(path: string, request: RunIoRequest): Promise<Response>
  /**
   * Sends a GET request, and streams the response body. Throws the same errors as `fetch`, even
   * while the body is read.
   */
  read(path: string, request: Pick<RunIoRequest, "headers" | "signal">): Promise<IncomingMessage>
  /**
   * Sends a GET request, and streams the response body without decoding it. Returns a response with
   * any status except 410, which has the same effect as in `fetch`.
   */
  open(path: string, request: StreamRequest): Promise<IncomingMessage>
}

/** HTTP client and abort signal for a transfer from or to the Worker. */
export type TransferContext = { io: RunIoClient; signal: AbortSignal }

/** Statuses of the class 4xx after which another attempt may succeed. */
const RETRYABLE_STATUSES = new Set([408, 425, 429])

/**
 * Creates the HTTP client for the run of one task. Aborts `kill` when the Worker answers that the
 * run has ended. If `ioSocket` is not null, requests are sent to that UNIX socket.
 */
export function createRunIoClient(
  order: TaskOrder,
  { boot, ioSocket, transferIdleMs }: Pick<RunnerSettings, "boot" | "ioSocket" | "transferIdleMs">,
  kill: AbortController,
): RunIoClient {
  const headers = {
    authorization: `Bearer ${order.io.token}`,
    "accept-encoding": "identity",
    [PROTOCOL_HEADER]: PROTOCOL_VERSION,
    [RUNNER_BOOT_ID_HEADER]: boot,
  }
  async function open(path: string, request: StreamRequest): Promise<IncomingMessage> {
    const full = { ...request, headers: { ...headers, ...request.headers } }
    const answer = await openResponse(order.io.origin + path, full, ioSocket)
    if (answer.statusCode !== 410) return answer
    answer.destroy()
    return killRun()
  }
  function killRun(): never {
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
        throw errorForStatus(status, "GET", path)
      }
      answer.setTimeout(transferIdleMs, () => {
        answer.destroy(new Error(`No byte arrived for ${transferIdleMs / 1000} seconds.`))
      })
      return answer
    },
    async fetch(path, { acceptedStatuses = [], method = "GET", body, signal, ...request }) {
      const response = await sendBufferedRequest(order.io.origin + path, {
        method,
        headers: { ...headers, ...request.headers },
        bytes: typeof body === "string" ? Buffer.from(body) : body,
        signal,
        idleMsMax: transferIdleMs,
        socketPath: ioSocket,
      })
      const { status } = response
      if (response.ok || acceptedStatuses.includes(status)) return response
      return status === 410 ? killRun() : Promise.reject(errorForStatus(status, method, path))
    },
  }
}

/** Returns the error for a response of the Worker with an unexpected status. */
function errorForStatus(status: number, method: string, path: string): Error {
  if (status === 507) {
    return new RunnerError("disk_full", "The service's disk has no space for the outputs.")
  }
  const message = `The Worker answered ${status} to ${method} ${path}.`
  const isFinal = status < 500 && !RETRYABLE_STATUSES.has(status)
  return isFinal ? new RunnerError("internal", message) : new Error(message)
}

type StreamRequest = {
  headers: Record<string, string>
  /** Signal that aborts the request, or the response while its body is read. */
  signal: AbortSignal
  /** Timeout for the headers of the response, in milliseconds. */
  headMsMax: number
}

/**
 * Sends a GET request. Returns when the headers of the response have arrived. Unlike fetch(), does
 * not decode the body. If `socketPath` is set, connects to that UNIX socket instead of the host of
 * the URL.
 */
async function openResponse(
  url: string,
  { headers, signal, headMsMax }: StreamRequest,
  socketPath: string | null,
): Promise<IncomingMessage> {
  signal.throwIfAborted()
  const late = AbortSignal.timeout(headMsMax)
  const open = url.startsWith("https:") ? requestHttps : requestHttp
  const outgoing = open(url, {
    headers,
    signal,
    // Uses a new connection, since the server may have closed a kept-alive connection.
    agent: false,
    ...(socketPath !== null && { socketPath }),
  })
  function stop() {
    const error = new Error("The response timed out.", { cause: late.reason })
    outgoing.destroy(Object.assign(error, { code: "ETIMEDOUT" }))
  }
  late.addEventListener("abort", stop)
  try {
    return await new Promise((resolve, reject) => {
      outgoing.once("response", resolve).on("error", reject).end()
    })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    late.removeEventListener("abort", stop)
  }
}

type SmallRequest = {
  method: string
  headers: Record<string, string>
  /** Body of the request; none if undefined. */
  bytes?: Uint8Array | Blob | undefined
  signal: AbortSignal
  /** Maximum time without a byte in either direction, in milliseconds. */
  idleMsMax: number
  /** UNIX socket to which the request is sent; null for the host of the URL. */
  socketPath: string | null
}

/** Error codes that occur on a reused connection if the server has closed the idle connection. */
const CLOSED_CONNECTION_CODES = new Set(["ECONNRESET", "EPIPE"])

/**
 * Sends a request whose body is bytes in memory or a streamed Blob. Unlike fetch(), does not copy
 * the bytes. Buffers the response, which should be small.
 */
export async function sendBufferedRequest(url: string, request: SmallRequest): Promise<Response> {
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

/**
 * Sends a request. If the server has closed the kept-alive connection, sends the request again on a
 * new connection.
 */
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
    const isClosed =
      error instanceof Error && "code" in error && CLOSED_CONNECTION_CODES.has(String(error.code))
    if (isFresh || !outgoing.reusedSocket || !isClosed || signal.aborted) throw error
    return await send(url, request, true)
  }
}
