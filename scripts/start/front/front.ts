import { isIP } from "node:net"
import { z } from "zod"
import { Problem, problemResponse } from "../../../src/api/output/problem.ts"
import { SECURITY_HEADERS } from "../../../src/api/middleware/shared-headers.ts"
import { newId } from "../../../src/platform/ids.ts"

// This module runs inside the Worker as its entrypoint `callers`. On one machine, this entrypoint
// replaces Cloudflare's edge.

/**
 * Maximum size of a request's URL and headers, in bytes. workerd itself refuses only some hundred
 * KiB.
 */
const HEAD_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
/**
 * Headers that Cloudflare or the local runtime set. The entrypoint removes them from requests of
 * callers.
 */
const OWN_HEADERS = /^(?:cf|mf|lathe-outbound)-/
const CLOSED_MS_MAX = 30_000
const POLL_MS = 20

export const callersEntrypointSettingsSchema = z.object({
  /** Port and addresses of this machine that callers may use in `Host`. */
  port: z.number(),
  addresses: z.array(z.string()),
  /** Origin in the URLs that callers use, if its host is not an address of this machine. */
  publicOrigin: z.string().optional(),
  /** Header in which a proxy in front of the service sends the client's address, in lower case. */
  clientAddressHeader: z.string().optional(),
})

export type CallersEntrypointSettings = z.infer<typeof callersEntrypointSettingsSchema>

type Waiting = { waitUntil(promise: Promise<unknown>): void }

type Worker<Env, Context> = {
  fetch(request: Request, env: Env, context: Context): Response | Promise<Response>
}

/**
 * Makes the entrypoint that checks requests of callers and passes them to the Worker. The
 * entrypoint refuses requests for other hosts and oversized headers, and sets `cf-connecting-ip` to
 * the client's address. Requests wait until `open` was called. The settings are the JSON text
 * `FRONT` of the environment.
 */
export function makeCallersEntrypoint<Env extends { FRONT: string }, Context extends Waiting>(
  worker: Worker<Env, Context>,
) {
  let isOpen = false
  let settings: CallersEntrypointSettings | undefined
  async function untilOpen(): Promise<boolean> {
    for (let waitedMs = 0; !isOpen && waitedMs < CLOSED_MS_MAX; waitedMs += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    return isOpen
  }
  async function fetch(request: Request, env: Env, context: Context): Promise<Response> {
    settings ??= callersEntrypointSettingsSchema.parse(JSON.parse(env.FRONT))
    const target = judge(request, settings)
    const isReady = isOpen || target instanceof Problem || (await untilOpen())
    const checkedTarget = isReady ? target : starting()
    const body = request.body && holdBody(request.body)
    const answer =
      checkedTarget instanceof Problem
        ? refuse(checkedTarget, request)
        : await worker.fetch(passOn(checkedTarget, request, body, settings), env, context)
    const isLeft = body !== null && body.state !== "ended"
    // Leaves the body of a request with `Expect` unread while the client waits for `100 Continue`.
    // A read would make the client send the body.
    const mayRead = body?.state === "begun" || !request.headers.has("expect")
    if (answer.status < 400 || request.method === "HEAD" || !isLeft || !mayRead) return answer
    return await refuseBody(answer, body, context)
  }
  return { open: () => void (isOpen = true), callers: { fetch } }
}

/**
 * Returns the URL of a request without dot segments. Returns an error response (Problem) if the
 * request must not reach the Worker.
 */
function judge(request: Request, settings: CallersEntrypointSettings): URL | Problem {
  const { headers, url } = request
  const entries = [...headers]
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  if (entries.length > HEADERS_MAX || bytes + url.length > HEAD_BYTES_MAX) {
    const message = `A head may have ${HEAD_BYTES_MAX} bytes and ${HEADERS_MAX} headers.`
    return new Problem("headers_too_large", message)
  }
  const encoding = headers.get("transfer-encoding") ?? "chunked"
  if (encoding.toLowerCase() !== "chunked")
    return malformed("Transfer-Encoding may only be chunked.")
  if ((headers.get("expect") ?? "100-continue").toLowerCase() !== "100-continue") {
    return new Problem("expectation_failed", "Expect is 100-continue, or is left out.")
  }
  // A comma means that workerd joined several Host headers.
  const host = headers.get("host") ?? ""
  if (!/^[^\s/\\?#@,]+$/.test(host)) return malformed("Send one Host: a name or an address.")
  const target = URL.parse(url)
  if (!target) return malformed("The target of a request is a path, and Host a name or an address.")
  // Removes the final dot of a host name, which refers to the DNS root.
  const name = target.hostname.replace(/\.$/, "")
  if (!isOwnHost(name, /:(\d+)$/.exec(host)?.[1], settings)) {
    const message = `${host} is not a host of this service; its operator names one by PUBLIC_ORIGIN.`
    return new Problem("misdirected_request", message)
  }
  target.hostname = name
  return target
}

/**
 * Reports whether a host is an allowed host of this service. An allowed host without a port matches
 * every port.
 */
function isOwnHost(
  name: string,
  port: string | undefined,
  settings: CallersEntrypointSettings,
): boolean {
  function isAt(own: number): boolean {
    return port === undefined || Number(port) === own
  }
  const addresses = settings.addresses.map((each) => (each.includes(":") ? `[${each}]` : each))
  const own = ["localhost", "127.0.0.1", "[::1]", ...addresses]
  if (own.includes(name) && isAt(settings.port)) return true
  if (settings.publicOrigin === undefined) return false
  const known = new URL(settings.publicOrigin)
  return (
    name === known.hostname && isAt(Number(known.port || (known.protocol === "https:" ? 443 : 80)))
  )
}

function passOn(
  target: URL,
  request: Request,
  body: HeldBody | null,
  settings: CallersEntrypointSettings,
): Request {
  const { method, headers, signal } = request
  const mayHaveBody = method !== "GET" && method !== "HEAD"
  const init = { method, headers, signal, body: (mayHaveBody && body?.passed) || null }
  const passed = new Request(target, init)
  for (const name of headers.keys()) if (OWN_HEADERS.test(name)) passed.headers.delete(name)
  passed.headers.set("cf-connecting-ip", readClientAddress(request, settings.clientAddressHeader))
  return passed
}

const connection = z.object({ clientIp: z.string() })

/**
 * Returns the client's address of a request: the last value of the header in which a trusted proxy
 * sends it, else the address of the connection.
 */
export function readClientAddress(request: Request, header: string | undefined): string {
  const { clientIp } = connection.parse(Reflect.get(request, "cf"))
  const own = clientIp.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")
  const values = header === undefined ? null : request.headers.get(header)
  const last = values?.split(",").at(-1)?.trim() ?? ""
  return isIP(last) > 0 ? last : own
}

/** Responds to a refused request with an error in the service's format. */
function refuse(problem: Problem, request: Request): Response {
  const requestId = newId()
  const accept = request.headers.get("accept") ?? ""
  const { body, status, headers } = problemResponse(problem, { requestId, accept })
  const shared = { ...SECURITY_HEADERS, "cache-control": "no-store", "x-request-id": requestId }
  return new Response(body, { status, headers: { ...Object.fromEntries(headers), ...shared } })
}

function malformed(message: string): Problem {
  return new Problem("invalid_request", message)
}

function starting(): Problem {
  return new Problem("overloaded", "The service is starting; send the request once more.", {
    retryAfterSeconds: 1,
    headers: { "retry-after": "1" },
  })
}

/**
 * Stream class of workerd for a known number of bytes, so that a response with such a body has a
 * `content-length`.
 */
declare const FixedLengthStream: new (bytes: number) => TransformStream<Uint8Array, Uint8Array>

/**
 * Maximum time for which the rest of a refused request's body is read, in milliseconds. The sender
 * can read the response in this time.
 */
const REST_MS_MAX = 10_000
const ROOM_BYTES = 64 * 1024

/** Request body that is passed to the Worker. The Worker may leave the body unread. */
type HeldBody = {
  /**
   * Stream that the Worker reads. Canceling this stream does not cancel the body of the request.
   */
  readonly passed: ReadableStream<Uint8Array>
  /** State of the body: no byte read, some bytes read, or read to the end. */
  readonly state: "untouched" | "begun" | "ended"
  /** Reads and discards the rest of the body, for at most `REST_MS_MAX`. */
  drop(): Promise<void>
}

/** Wraps a body in a byte stream that reads directly into the buffer of its reader. */
function holdBody(body: ReadableStream<Uint8Array<ArrayBuffer>>): HeldBody {
  const reader = body.getReader({ mode: "byob" })
  let state: HeldBody["state"] = "untouched"
  async function pull(controller: ReadableByteStreamController): Promise<void> {
    const request = controller.byobRequest
    if (!request?.view) return
    state = "begun"
    const { buffer, byteOffset, byteLength } = request.view
    const { done, value } = await reader.read(new Uint8Array(buffer, byteOffset, byteLength))
    if (!done) return request.respondWithNewView(value)
    state = "ended"
    controller.close()
    request.respond(0)
  }
  async function drop(): Promise<void> {
    const timer = setTimeout(() => void reader.cancel().catch(() => undefined), REST_MS_MAX)
    let room = new Uint8Array(ROOM_BYTES)
    try {
      for (;;) {
        const { done, value } = await reader.read(room)
        if (done) return
        room = new Uint8Array(value.buffer)
      }
    } catch {
      // Ignores the error, because the sender has disconnected or the time limit has passed.
    } finally {
      clearTimeout(timer)
    }
  }
  const source = { type: "bytes", autoAllocateChunkSize: ROOM_BYTES, pull } as const
  return {
    passed: new ReadableStream(source, { highWaterMark: 0 }),
    get state() {
      return state
    },
    drop,
  }
}

/**
 * Sends an error response at once, but ends the response only after the rest of the request's body
 * was read. workerd closes a connection whose response ends before the request's body. A sender
 * that cannot finish writing would not read the response.
 */
async function refuseBody(
  answer: Response,
  body: HeldBody,
  context: { waitUntil(promise: Promise<unknown>): void },
): Promise<Response> {
  const bytes = await answer.bytes()
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  async function send(): Promise<void> {
    const writer = writable.getWriter()
    await writer.write(bytes)
    await body.drop()
    await writer.close()
  }
  context.waitUntil(send().catch(() => undefined))
  return new Response(readable, answer)
}
