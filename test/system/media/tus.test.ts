import { createHash, randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Upload } from "tus-js-client"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { findFreePort } from "../../../scripts/cli/ports.ts"
import { findWorkerd } from "../../faults/processes.ts"
import { selectCases } from "../../support/wide.ts"
import { countObjects, countParts, countUploads } from "../operate/state-rows.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { startCuttingProxy } from "./cutting-proxy.ts"
import type { CuttingProxy } from "./cutting-proxy.ts"

const MIB = 1024 ** 2
const [CUTS = 0] = selectCases([20], [])
  .concat(selectCases([], [200]))
  .slice(-1)
/** Waits between tries of the client; the list is begun anew after each progress. */
const RETRY_MS = Array.from({ length: 50 }, (_, at) => 20 * at)

const fileRecord = z.looseObject({ download_url: z.string() })

let proxy: CuttingProxy
let service: TestService
let key: string
let idleSeconds: number
const opened = new AsyncDisposableStack()

beforeAll(async () => {
  proxy = opened.use(await startCuttingProxy())
  const port = await findFreePort()
  idleSeconds = 3
  service = opened.use(
    await startService({ PUBLIC_ORIGIN: proxy.origin, UPLOAD_IDLE_SECONDS: String(idleSeconds) }),
  )
  proxy.aim(Number(new URL(service.origin).port || port))
  key = await service.makeKey("tus")
})

afterAll(async () => await opened.disposeAsync())

type Options = {
  chunkSize?: number
  overridePatchMethod?: boolean
  uploadUrl?: string
  onProgress?: (sent: number) => void
}

/** Uploads bytes with the client of tus, through the proxy; returns the id of the File. */
async function upload(bytes: Uint8Array, options: Options = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const client = new Upload(Buffer.from(bytes), {
    endpoint: `${proxy.origin}/v1/uploads`,
    headers: { "X-API-Key": key },
    metadata: { filename: "film.bin" },
    retryDelays: RETRY_MS,
    onShouldRetry: () => true,
    onError: reject,
    onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader("Content-Location") ?? ""),
    ...options,
  })
  client.start()
  const location = await promise
  expect(location).toMatch(/\/v1\/files\/[0-9a-f-]{36}$/)
  return location.split("/").at(-1) ?? ""
}

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-api-key": key, ...Object.fromEntries(new Headers(init.headers)) }
  return await fetch(`${service.origin}/v1${path}`, { ...init, headers })
}

async function download(id: string): Promise<string> {
  const { download_url } = fileRecord.parse(await (await call(`/files/${id}`)).json())
  const url = download_url.replace(proxy.origin, service.origin)
  const redirect = await fetch(url, { headers: { "x-api-key": key }, redirect: "manual" })
  const place = redirect.headers.get("location")?.replace(proxy.origin, service.origin) ?? ""
  return hash(new Uint8Array(await (await fetch(place)).arrayBuffer()))
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Waits until the service keeps nothing but the objects of its Files. */
async function untilOnlyFiles(files: number): Promise<void> {
  await vi.waitUntil(
    () =>
      countUploads(service.stateDir) === 0 &&
      countParts(service.stateDir) === 0 &&
      countObjects(service.stateDir) === files,
    { timeout: 90_000, interval: 100 },
  )
}

async function countFiles(): Promise<number> {
  return z.array(fileRecord).parse(await (await call("/files?limit=100")).json()).length
}

describe("tus-js-client", () => {
  it.each([
    ["in one request", {}],
    ["in chunks of 1 MiB", { chunkSize: MIB }],
    ["in chunks of 7 MB", { chunkSize: 7_000_000 }],
    ["by POST with an overridden method", { chunkSize: 7_000_000, overridePatchMethod: true }],
  ])("uploads %s", async (_, options) => {
    const bytes = randomBytes(17 * MIB + 3)
    const id = await upload(bytes, options)
    expect(await download(id)).toBe(hash(bytes))
  })

  it(`goes on after each of ${CUTS} cuts, and leaves nothing`, async () => {
    const before = proxy.cuts()
    // Cuts fall into the heads of requests, into parts and between them.
    proxy.cutAfter(Array.from({ length: CUTS }, () => Math.floor(Math.random() ** 3 * 12 * MIB)))
    while (proxy.cuts() - before < CUTS) {
      const bytes = randomBytes(24 * MIB + 11)
      const id = await upload(bytes, { chunkSize: 16 * MIB })
      expect(await download(id)).toBe(hash(bytes))
    }
    await untilOnlyFiles(await countFiles())
  })

  it("goes on after kills of workerd, and leaves nothing", async () => {
    const bytes = randomBytes(48 * MIB)
    const marks = [7 * MIB, 23 * MIB, 40 * MIB]
    function kill(sent: number): void {
      if (sent < (marks[0] ?? Infinity)) return
      marks.shift()
      process.kill(findWorkerd(service.pid) ?? 0, "SIGKILL")
    }
    const id = await upload(bytes, { chunkSize: 8 * MIB, onProgress: kill })
    expect(marks).toEqual([])
    expect(await download(id)).toBe(hash(bytes))
    await untilOnlyFiles(await countFiles())
  })

  it("in two windows at once makes one File of the same upload", async () => {
    const files = await countFiles()
    const bytes = randomBytes(40 * MIB)
    const created = await call("/uploads", {
      method: "POST",
      headers: { "tus-resumable": "1.0.0", "upload-length": String(bytes.length) },
    })
    const uploadUrl = created.headers.get("location") ?? ""
    const options = { uploadUrl, chunkSize: 6 * MIB }
    const ids = await Promise.all([upload(bytes, options), upload(bytes, options)])
    expect(new Set(ids).size).toBe(1)
    expect(await download(ids[0])).toBe(hash(bytes))
    expect(await countFiles()).toBe(files + 1)
    await untilOnlyFiles(files + 1)
  })
})

describe("a client that lies", () => {
  const tus = { "tus-resumable": "1.0.0" }

  async function create(sizeBytes: number): Promise<string> {
    const headers = { ...tus, "upload-length": String(sizeBytes) }
    const answer = await call("/uploads", { method: "POST", headers })
    const { id } = z.looseObject({ id: z.uuid() }).parse(await answer.json())
    return `/uploads/${id}`
  }

  async function offsetOf(path: string): Promise<number> {
    const head = await call(path, { method: "HEAD", headers: tus })
    return Number(head.headers.get("upload-offset"))
  }

  function patch(path: string, body: Uint8Array | ReadableStream<Uint8Array>, offset = 0) {
    const headers = {
      ...tus,
      "content-type": "application/offset+octet-stream",
      "upload-offset": String(offset),
    }
    return call(path, { method: "PATCH", headers, body, duplex: "half" })
  }

  /** Stream without a length that sends so many bytes in pieces. */
  function streamOf(bytes: number): ReadableStream<Uint8Array> {
    let left = bytes
    return new ReadableStream({
      pull(controller) {
        const size = Math.min(left, MIB)
        left -= size
        if (size === 0) controller.close()
        else controller.enqueue(new Uint8Array(size))
      },
    })
  }

  it("is a 413 with more bytes than it announced, before its File exists", async () => {
    const path = await create(12 * MIB)
    expect((await patch(path, streamOf(13 * MIB))).status).toBe(413)
    expect(await offsetOf(path)).toBeLessThan(12 * MIB + 1)
    expect((await call(path.replace("uploads", "files"))).status).toBe(404)
    expect((await call(path, { method: "DELETE", headers: tus })).status).toBe(204)
  })

  it("has no File with fewer bytes, and goes on", async () => {
    const path = await create(12 * MIB)
    expect((await patch(path, streamOf(7 * MIB))).status).toBe(204)
    expect(await offsetOf(path)).toBe(7 * MIB)
    expect((await patch(path, new Uint8Array(5 * MIB), 7 * MIB)).status).toBe(204)
    expect((await call(path.replace("uploads", "files"))).status).toBe(200)
  })

  it("is a 408 if it stalls, and its bytes are kept", async () => {
    const path = await create(12 * MIB)
    const sent = 6 * MIB + 1000
    const stalling = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(sent))
      },
    })
    const stalled = await patch(path, stalling).catch(() => null)
    expect(stalled?.status ?? 408).toBe(408)
    await vi.waitUntil(async () => (await offsetOf(path)) > 5 * MIB, { timeout: 30_000 })
    await sleep(idleSeconds)
    expect((await call(path, { method: "DELETE", headers: tus })).status).toBe(204)
    await untilOnlyFiles(await countFiles())
  })
})
