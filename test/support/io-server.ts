import { BOOT_HEADER, PROTOCOL_HEADER, PROTOCOL_VERSION } from "../../src/contract/protocol.ts"
import { report as reportSchema } from "../../src/contract/report.ts"
import type { Report } from "../../src/contract/report.ts"

export type StoredOutput = {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string | null
  /** Sizes of its parts, in order; empty where it came whole. */
  partSizes: number[]
}

/** The Worker's side of `/io/{task}` over Maps: what a runner sees of the service. */
export type IoServer = {
  token: string
  inputs: Map<string, Uint8Array<ArrayBuffer>>
  outputs: Map<string, StoredOutput>
  reports: Report[]
  /** Headers of every request, with method and path, in order. */
  requests: { call: string; headers: Headers }[]
  /** Decides about a request before it is served; null serves it. */
  intercept: (call: string, request: Request) => Response | null
  fetch(request: Request): Promise<Response>
}

type Upload = { contentType: string | null; parts: Map<number, Uint8Array<ArrayBuffer>> }

/** Makes a stand-in with no inputs, which takes everything that is well formed. */
export function makeIoServer(token: string): IoServer {
  const uploads = new Map<string, Upload>()
  const server: IoServer = {
    token,
    inputs: new Map(),
    outputs: new Map(),
    reports: [],
    requests: [],
    intercept: () => null,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.split("/").slice(3)
      const call = `${request.method} /${path.join("/")}`
      server.requests.push({ call, headers: request.headers })
      if (request.headers.get(PROTOCOL_HEADER) !== PROTOCOL_VERSION) return say(426)
      if (request.headers.get("authorization") !== `Bearer ${token}`) return say(401)
      if (!request.headers.has(BOOT_HEADER)) return say(400)
      const intercepted = server.intercept(call, request)
      if (intercepted) return intercepted
      const [room = "", key = "", ...rest] = path
      if (room === "inputs") return sendInput(request, server.inputs.get(key))
      if (room === "reports") return await hear(server, request)
      if (room !== "outputs") return say(404)
      const place = placeOf(key, rest)
      if (place.rest.length === 0) return await storeWhole(server, request, place.key)
      return await storeInParts({ server, uploads, request, ...place })
    },
  }
  return server
}

/** Members of a bundle are kept as `<key>/<name>`. */
function placeOf(key: string, [word, name = "", ...rest]: string[]) {
  if (word === "members") return { key: `${key}/${decodeURIComponent(name)}`, rest }
  return {
    key,
    rest: word === undefined ? [] : [word, name, ...rest].filter((each) => each !== ""),
  }
}

function sendInput(request: Request, bytes: Uint8Array<ArrayBuffer> | undefined): Response {
  if (!bytes) return say(404)
  const from = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1]
  if (from === undefined) return new Response(bytes)
  return new Response(bytes.subarray(Number(from)), { status: 206 })
}

async function hear(server: IoServer, request: Request): Promise<Response> {
  const told = reportSchema.safeParse(await request.json())
  if (!told.success) return say(400)
  server.reports.push(told.data)
  return say(200)
}

async function storeWhole(server: IoServer, request: Request, key: string): Promise<Response> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  if (request.headers.get("content-length") !== String(bytes.length)) return say(411)
  const contentType = request.headers.get("content-type")
  server.outputs.set(key, { bytes, contentType, partSizes: [] })
  return say(200)
}

async function storeInParts(place: {
  server: IoServer
  uploads: Map<string, Upload>
  request: Request
  key: string
  rest: string[]
}): Promise<Response> {
  const { server, uploads, request, key, rest } = place
  if (request.method === "POST" && rest[1] === undefined) {
    const uploadId = `upload-${uploads.size + 1}`
    uploads.set(uploadId, { contentType: request.headers.get("content-type"), parts: new Map() })
    return Response.json({ upload_id: uploadId })
  }
  const upload = uploads.get(new URL(request.url).searchParams.get("upload_id") ?? "")
  if (!upload) return say(404)
  if (rest[1] !== "complete") {
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (request.headers.get("content-length") !== String(bytes.length)) return say(411)
    upload.parts.set(Number(rest[1]), bytes)
    return Response.json({ etag: `etag-${rest[1]}` })
  }
  const expected = Array.from({ length: upload.parts.size }, (_, index) => ({
    part_number: index + 1,
    etag: `etag-${index + 1}`,
  }))
  if ((await request.text()) !== JSON.stringify({ parts: expected })) return say(400)
  const parts = expected.map(({ part_number }) => upload.parts.get(part_number) ?? new Uint8Array())
  server.outputs.set(key, {
    bytes: new Uint8Array(await new Blob(parts).arrayBuffer()),
    contentType: upload.contentType,
    partSizes: parts.map(({ length }) => length),
  })
  return say(200)
}

function say(status: number): Response {
  return Response.json({ status }, { status })
}
