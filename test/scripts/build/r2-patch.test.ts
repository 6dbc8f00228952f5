import { Miniflare, convertV4MiniflareOptions } from "miniflare"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { patchMiniflare } from "../../../scripts/build/miniflare-patch.ts"
import { miniflareR2Patch } from "../../../scripts/build/r2-patch.ts"

const PART_BYTES = 5 * 1024 * 1024

/** Stores the body as two parts: from memory, and as it comes after one that ended early. */
const WORKER = `export default {
  async fetch(request, { BUCKET }) {
    const { pathname } = new URL(request.url)
    if (request.method === "GET") return new Response((await BUCKET.get(pathname)).body)
    const bytes = await request.arrayBuffer()
    const upload = await BUCKET.createMultipartUpload(pathname)
    const first = await upload.uploadPart(1, bytes)
    const broken = new FixedLengthStream(bytes.byteLength)
    const writer = broken.writable.getWriter()
    const failure = upload.uploadPart(2, broken.readable).then(() => "stored", () => "failed")
    await writer.write(new Uint8Array(bytes, 0, 1000))
    await writer.abort(new Error("gone")).catch(() => undefined)
    const outcome = await failure
    const rest = new FixedLengthStream(bytes.byteLength)
    new Response(bytes).body.pipeTo(rest.writable)
    const second = await upload.uploadPart(2, rest.readable)
    const { etag, size } = await upload.complete([first, second])
    return Response.json({ outcome, etag, size })
  },
}`

const answered = z.object({ outcome: z.string(), etag: z.string(), size: z.number() })
const opened = new AsyncDisposableStack()
let miniflare: Miniflare

beforeAll(async () => {
  patchMiniflare(miniflareR2Patch)
  const { path } = opened.use(await makeTempFolder("r2"))
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: path,
      workers: [
        {
          name: "parts",
          compatibilityDate: "2026-10-01",
          r2Buckets: ["BUCKET"],
          modules: [{ type: "ESModule", path: "index.js", contents: WORKER }],
        },
      ],
    }),
  )
  opened.defer(async () => await miniflare.dispose())
  await miniflare.ready
}, 60_000)

afterAll(async () => await opened.disposeAsync())

test("parts are stored unchanged, except for one whose bytes end early", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(65_536))
  const part = Buffer.concat(Array.from({ length: PART_BYTES / bytes.length }, () => bytes))
  const etags: string[] = []
  for (const name of ["/one", "/other"]) {
    const put = await miniflare.dispatchFetch(`http://parts${name}`, { method: "PUT", body: part })
    const { outcome, size, etag } = answered.parse(await put.json())
    expect({ outcome, size }).toEqual({ outcome: "failed", size: 2 * PART_BYTES })
    expect(etag).toMatch(/^[0-9a-f]{32}-2$/)
    etags.push(etag)
    const stored = await (await miniflare.dispatchFetch(`http://parts${name}`)).arrayBuffer()
    expect(Buffer.from(stored).equals(Buffer.concat([part, part]))).toBe(true)
  }
  expect(new Set(etags).size).toBe(2)
}, 60_000)
