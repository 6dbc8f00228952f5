import { bundleMemberNameSchema } from "../../../src/contract/bundle.ts"
import {
  RUNNER_BOOT_ID_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
} from "../../../src/contract/protocol.ts"
import { reportSchema } from "../../../src/contract/report.ts"
import type { Report } from "../../../src/contract/report.ts"
import { fileKeySchema } from "../../../src/contract/task.ts"
import { readBodyOfKnownLength, readListedParts, makeStatusResponse } from "./io-answer.ts"
import { serveResumableUpload } from "./io-resumable.ts"
import type { ResumableUpload, StoredOutput } from "./io-resumable.ts"

/**
 * Fake server of the Worker's routes `/io/{task}`, by which a runner reads inputs, stores outputs
 * and sends reports. Stores everything in memory.
 */
export type FakeIoServer = {
  token: string
  /** Id of the task for which the token is valid, or null for every task. */
  taskId: string | null
  inputs: Map<string, Uint8Array<ArrayBuffer>>
  /** Keys of inputs that the job names, but whose R2 objects are missing. */
  missingInputs: Set<string>
  /** Keys of outputs that the runner may store, or null for every key. */
  outputKeys: Set<string> | null
  /** Resumable uploads by id, which later runs continue. */
  resumables: Map<string, ResumableUpload>
  /**
   * Stored outputs by key. The files of an output with several files have the keys `<key>/<name>`.
   */
  outputs: Map<string, StoredOutput>
  reports: Report[]
  /** Whether the service has ended the runner's work on the task. Every route then responds 410. */
  isRunOver: boolean
  /** Method, path and headers of every request, in order. */
  requests: { call: string; headers: Headers }[]
  /**
   * Called before each request is served. If it returns a response, the server sends that response
   * and does not call the route.
   */
  intercept: (call: string, request: Request) => Response | null | Promise<Response | null>
  fetch(request: Request): Promise<Response>
}

type Upload = {
  /** Key in the map `outputs` under which the completed upload is stored. */
  place: string
  contentType: string | null
  parts: Map<number, Uint8Array<ArrayBuffer>>
}

/**
 * Makes a fake I/O server without inputs. The server accepts every well-formed request with the
 * token.
 */
export function makeFakeIoServer(token: string): FakeIoServer {
  const uploads = new Map<string, Upload>()
  const server: FakeIoServer = {
    token,
    taskId: null,
    inputs: new Map(),
    missingInputs: new Set(),
    resumables: new Map(),
    outputKeys: null,
    outputs: new Map(),
    reports: [],
    isRunOver: false,
    requests: [],
    intercept: () => null,
    async fetch(request) {
      const [taskId, ...path] = new URL(request.url).pathname.split("/").slice(2)
      const call = `${request.method} /${path.join("/")}`
      server.requests.push({ call, headers: request.headers })
      if (request.headers.get(PROTOCOL_HEADER) !== PROTOCOL_VERSION) return makeStatusResponse(426)
      if (request.headers.get("authorization") !== `Bearer ${token}`) return makeStatusResponse(401)
      if (server.taskId !== null && server.taskId !== taskId) return makeStatusResponse(401)
      const answer = await server.intercept(call, request)
      return answer ?? (await serve({ server, uploads }, request, path))
    },
  }
  return server
}

type State = { server: FakeIoServer; uploads: Map<string, Upload> }

async function serve(state: State, request: Request, path: string[]): Promise<Response> {
  const { server } = state
  const [room, key = "", ...rest] = path
  if (room === "reports" && request.method === "POST") return await takeReport(server, request)
  if (!fileKeySchema.safeParse(key).success) return makeStatusResponse(404)
  if (room === "inputs" && request.method === "GET") return sendInput(server, request, key)
  if (room !== "outputs") return makeStatusResponse(404)
  if (server.isRunOver) return makeStatusResponse(410)
  if (server.outputKeys && !server.outputKeys.has(key)) return makeStatusResponse(404)
  const target = targetOf(key, rest)
  return target ? await store(state, request, target) : makeStatusResponse(400)
}

/**
 * Returns the key in `outputs` for a path below an output. Returns null for an invalid member name.
 */
function targetOf(key: string, path: string[]) {
  const [word, encoded = "", ...rest] = path
  if (word !== "members") return { place: key, rest: path }
  const name = bundleMemberNameSchema.safeParse(decode(encoded))
  return name.success ? { place: `${key}/${name.data}`, rest } : null
}

function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

function sendInput(server: FakeIoServer, request: Request, key: string): Response {
  if (server.isRunOver) return makeStatusResponse(410)
  if (server.missingInputs.has(key)) return makeStatusResponse(404)
  const bytes = server.inputs.get(key)
  if (!bytes) return makeStatusResponse(410)
  const [, first = 0, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "") ?? []
  const from = Number(first)
  const until = Math.min(bytes.length, Number(last || bytes.length) + 1)
  const headers = new Headers({ "content-length": String(until - from) })
  if (until - from === bytes.length) return new Response(bytes, { headers })
  headers.set("content-range", `bytes ${from}-${until - 1}/${bytes.length}`)
  return new Response(bytes.subarray(from, until), { status: 206, headers })
}

async function takeReport(server: FakeIoServer, request: Request): Promise<Response> {
  const parsed = reportSchema.safeParse(await request.json().catch(() => null))
  if (!parsed.success || request.headers.get(RUNNER_BOOT_ID_HEADER) !== parsed.data.boot)
    return makeStatusResponse(400)
  if (server.isRunOver) return makeStatusResponse(410)
  server.reports.push(parsed.data)
  return makeStatusResponse(200)
}

async function store(
  { server, uploads }: State,
  request: Request,
  { place, rest }: { place: string; rest: string[] },
): Promise<Response> {
  const [word, number] = rest
  if (word === "resumable") return await serveResumableUpload(server, request, { place, rest })
  const route = `${request.method} ${word ?? ""}`
  if (route === "PUT ") return await storeWhole(server, request, place)
  if (route === "POST parts" && number === undefined) {
    const uploadId = `upload-${crypto.randomUUID()}`
    const contentType = request.headers.get("content-type")
    uploads.set(uploadId, { place, contentType, parts: new Map() })
    return Response.json({ upload_id: uploadId })
  }
  const uploadId = new URL(request.url).searchParams.get("upload_id") ?? ""
  const upload = uploads.get(uploadId)
  const isCompletion = route === "POST parts" && number === "complete"
  if (upload?.place !== place)
    return makeStatusResponse(isCompletion && server.outputs.has(place) ? 200 : 404)
  if (isCompletion) {
    const answer = await complete(server, upload, request)
    if (answer.ok || answer.status === 409) uploads.delete(uploadId)
    return answer
  }
  return route === "PUT parts"
    ? await storePart(upload, Number(number), request)
    : makeStatusResponse(404)
}

async function storeWhole(
  server: FakeIoServer,
  request: Request,
  place: string,
): Promise<Response> {
  const bytes = await readBodyOfKnownLength(request)
  if (bytes instanceof Response) return bytes
  const contentType = request.headers.get("content-type")
  server.outputs.set(place, { bytes, contentType, partSizes: [] })
  return makeStatusResponse(200)
}

async function storePart(upload: Upload, number: number, request: Request): Promise<Response> {
  const bytes = await readBodyOfKnownLength(request)
  if (bytes instanceof Response) return bytes
  upload.parts.set(number, bytes)
  return Response.json({ etag: `etag-${number}` })
}

async function complete(server: FakeIoServer, upload: Upload, request: Request): Promise<Response> {
  const parts = await readListedParts(request, upload.parts)
  if (parts instanceof Response) return parts
  server.outputs.set(upload.place, {
    bytes: new Uint8Array(await new Blob(parts).arrayBuffer()),
    contentType: upload.contentType,
    partSizes: parts.map(({ length }) => length),
  })
  return makeStatusResponse(200)
}
