import { isIP } from "node:net"
import { z } from "zod"
import { Problem, problemResponse } from "../../../src/http/problem.ts"
import { SHARED_HEADERS } from "../../../src/http/shared-headers.ts"
import { newId } from "../../../src/ids.ts"
import { holdBody, refuseBody } from "./body.ts"
import type { HeldBody } from "./body.ts"

// Runs inside the Worker, as its entrypoint `callers`: it does for one machine what Cloudflare's edge does for
// a deployment.

/** workerd itself refuses heads of some hundred KiB. */
const HEAD_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
/** Headers that Cloudflare and the local runtime set, and no caller. */
const OWN_HEADERS = /^(?:cf|mf|lathe-outbound)-/
const CLOSED_MS_MAX = 30_000
const POLL_MS = 20

export const frontSettings = z.object({
  /** Port and addresses of this machine that callers may name. */
  port: z.number(),
  addresses: z.array(z.string()),
  /** The address that callers know, where it is another one. */
  publicOrigin: z.string().optional(),
  /** The header, in lower case, in which a proxy in front says whose request it is. */
  clientAddressHeader: z.string().optional(),
})

export type FrontSettings = z.infer<typeof frontSettings>

type Waiting = { waitUntil(promise: Promise<unknown>): void }

type Worker<Env, Context> = {
  fetch(request: Request, env: Env, context: Context): Response | Promise<Response>
}

/**
 * Makes what hands requests of callers to the Worker: those for a host of this service, with a head of a
 * bounded size, and `cf-connecting-ip` by the connection. Requests wait until `open` was called. The environment has
 * the settings as the JSON text `FRONT`.
 */
export function makeFront<Env extends { FRONT: string }, Context extends Waiting>(
  worker: Worker<Env, Context>,
) {
  let isOpen = false
  let settings: FrontSettings | undefined
  async function untilOpen(): Promise<boolean> {
    for (let waitedMs = 0; !isOpen && waitedMs < CLOSED_MS_MAX; waitedMs += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    return isOpen
  }
  async function fetch(request: Request, env: Env, context: Context): Promise<Response> {
    settings ??= frontSettings.parse(JSON.parse(env.FRONT))
    const target = judge(request, settings)
    const isReady = isOpen || target instanceof Problem || (await untilOpen())
    const judged = isReady ? target : starting()
    const body = request.body && holdBody(request.body)
    const answer =
      judged instanceof Problem
        ? refuse(judged, request)
        : await worker.fetch(passOn(judged, request, body, settings), env, context)
    const isLeft = body !== null && body.state !== "ended"
    // To read a body lets its sender begin, who may wait for leave.
    const mayRead = body?.state === "begun" || !request.headers.has("expect")
    if (answer.status < 400 || request.method === "HEAD" || !isLeft || !mayRead) return answer
    return await refuseBody(answer, body, context)
  }
  return { open: () => void (isOpen = true), callers: { fetch } }
}

/** The URL that a request is for, without dot segments; a Problem where the Worker is not to see it. */
function judge(request: Request, settings: FrontSettings): URL | Problem {
  const { headers, url } = request
  const entries = [...headers]
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  if (entries.length > HEADERS_MAX || bytes + url.length > HEAD_BYTES_MAX) {
    const message = `A head may have ${HEAD_BYTES_MAX} bytes and ${HEADERS_MAX} headers.`
    return new Problem("headers_too_large", message)
  }
  const encoding = headers.get("transfer-encoding") ?? "chunked"
  if (encoding.toLowerCase() !== "chunked") return malformed("The body may only be chunked.")
  if ((headers.get("expect") ?? "100-continue").toLowerCase() !== "100-continue") {
    return new Problem("expectation_failed", "Expect is 100-continue, or is left out.")
  }
  // Several Host headers come joined by commas.
  const host = headers.get("host") ?? ""
  if (!/^[^\s/\\?#@,]+$/.test(host)) return malformed("Send one Host: a name or an address.")
  const target = URL.parse(url)
  if (!target) return malformed("The target of a request is a path, and Host a name or an address.")
  // A name may end with the dot of the root.
  const name = target.hostname.replace(/\.$/, "")
  if (!isOwnHost(name, /:(\d+)$/.exec(host)?.[1], settings)) {
    const message = `${host} is not a host of this service; its operator names one by PUBLIC_ORIGIN.`
    return new Problem("misdirected_request", message)
  }
  target.hostname = name
  return target
}

/** Whether a host is this service's; without a port it counts at any of its ports. */
function isOwnHost(name: string, port: string | undefined, settings: FrontSettings): boolean {
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
  settings: FrontSettings,
): Request {
  const { method, headers, signal } = request
  const mayHaveBody = method !== "GET" && method !== "HEAD"
  const init = { method, headers, signal, body: (mayHaveBody && body?.passed) || null }
  const passed = new Request(target, init)
  for (const name of headers.keys()) if (OWN_HEADERS.test(name)) passed.headers.delete(name)
  passed.headers.set("cf-connecting-ip", clientAddressOf(request, settings.clientAddressHeader))
  return passed
}

const connection = z.object({ clientIp: z.string() })

/**
 * The address that a request comes from: the connection's, or what a proxy in front says in the header
 * of the settings. The proxy's own word stands last there.
 */
export function clientAddressOf(request: Request, header: string | undefined): string {
  const { clientIp } = connection.parse(Reflect.get(request, "cf"))
  const own = clientIp.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")
  const said = header === undefined ? null : request.headers.get(header)
  const last = said?.split(",").at(-1)?.trim() ?? ""
  return isIP(last) > 0 ? last : own
}

/** Answers in the shape of the service's own errors. */
function refuse(problem: Problem, request: Request): Response {
  const requestId = newId()
  const accept = request.headers.get("accept") ?? ""
  const { body, status, headers } = problemResponse(problem, { requestId, accept })
  const shared = { ...SHARED_HEADERS, "cache-control": "no-store", "x-request-id": requestId }
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
