import { hash } from "node:crypto"
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { waitFor } from "../../harness.ts"
import type { Harness } from "../../harness.ts"
import {
  failureOf,
  importFrom,
  importUrl,
  PART_BYTES,
  startImportHarness,
} from "./import-harness.ts"
import { makeBytes, rangeStart, sendRest, startSource } from "./source-server.ts"

const small = makeBytes(100_000)
const large = makeBytes(PART_BYTES + 12_345)
const sha256 = hash("sha256", large)
const ETAG = { etag: '"one"' }
/** Long timeout for a busy machine. */
const PATIENT = { timeout: 60_000 }

let harness: Harness

beforeAll(async () => {
  harness = await startImportHarness()
})

afterAll(() => harness.close())

beforeEach(() => {
  harness.io.outputs.clear()
  harness.io.resumables.clear()
})

describe("a direct file", () => {
  test("is stored by one PUT if it is small", async () => {
    const { result, stored } = await importFrom(harness, (incoming, answer) =>
      sendRest(incoming, answer, { bytes: small }),
    )
    expect(result).toEqual({
      kind: "import",
      name: "film.mp4",
      size_bytes: small.length,
      content_type: "video/mp4",
      sha256: hash("sha256", small),
      is_resumable: false,
    })
    expect(small.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(stored?.contentType).toBe("video/mp4")
    expect(stored?.partSizes).toEqual([])
  })

  test.for([
    ["/film.mp4", "text/html", "video/mp4"],
    ["/film.flac", "text/plain; charset=utf-8", "audio/flac"],
    ["/film", "text/plain", "application/octet-stream"],
    ["/film.html", "text/html", "application/octet-stream"],
  ] as const)(
    "at %s, binary and with the type %s, is stored as %s",
    async ([path, said, contentType]) => {
      const { result, stored } = await importFrom(
        harness,
        (incoming, answer) => {
          sendRest(incoming, answer, { bytes: small, headers: { "content-type": said } })
        },
        path,
      )
      expect(result).toMatchObject({ content_type: contentType })
      expect(stored?.contentType).toBe(contentType)
    },
  )

  test("is stored in equal parts if it is large", async () => {
    const { result, stored } = await importFrom(harness, (incoming, answer) =>
      sendRest(incoming, answer, { bytes: large, headers: ETAG }),
    )
    expect(result).toMatchObject({ size_bytes: large.length, is_resumable: true, sha256 })
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(stored?.partSizes).toEqual([PART_BYTES, 12_345])
  })

  test("may have exactly the size of a part", async () => {
    const bytes = large.subarray(0, PART_BYTES)
    const { stored } = await importFrom(harness, (incoming, answer) =>
      sendRest(incoming, answer, { bytes, headers: ETAG }),
    )
    expect(bytes.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(stored?.partSizes).toEqual([PART_BYTES])
  })

  test.for([small, large])("may come without a Content-Length", async (bytes) => {
    for (const isChunked of [true, false]) {
      const { stored } = await importFrom(harness, (_, answer) => {
        answer.useChunkedEncodingByDefault = isChunked
        if (!isChunked) answer.setHeader("connection", "close")
        answer.setHeader("content-type", "video/mp4")
        answer.write(bytes.subarray(0, 1000))
        answer.end(bytes.subarray(1000))
      })
      expect(bytes.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    }
  })

  test.for([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, deflate", (bytes: Buffer) => deflateSync(gzipSync(bytes))],
  ] as const)("is decoded from %s", async ([coding, encode]) => {
    const { result, stored } = await importFrom(harness, (_, answer) => {
      answer.writeHead(200, { "content-encoding": coding, ...ETAG })
      answer.end(encode(small))
    })
    expect(result?.size_bytes).toBe(small.length)
    expect(small.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("is found behind redirects", async () => {
    const { result, stored, requests } = await importFrom(harness, (incoming, answer) => {
      if (incoming.url === "/film.mp4") {
        answer.writeHead(302, { location: "/b/other%20name.webm?signature=1" }).end()
        return
      }
      sendRest(incoming, answer, { bytes: small, headers: { "content-type": "video/webm" } })
    })
    expect(requests.length).toBe(2)
    expect(result).toMatchObject({ name: "other name.webm", content_type: "video/webm" })
    expect(stored?.bytes.length).toBe(small.length)
  })
})

describe("an interrupted source", () => {
  test.for([1, PART_BYTES, PART_BYTES + 1, large.length - 1])(
    "resumes at byte %d",
    async (cutAt) => {
      const { stored, requests, result } = await importFrom(harness, (incoming, answer, count) => {
        const sent = { bytes: large, headers: ETAG, ...(count === 1 && { cutAt }) }
        sendRest(incoming, answer, sent)
      })
      expect(result).toMatchObject({ size_bytes: large.length, is_resumable: true, sha256 })
      expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
      expect(requests.map(({ headers }) => headers["if-range"])).toEqual([undefined, '"one"'])
    },
  )

  test("resumes by Last-Modified if it has no strong ETag", async () => {
    const headers = {
      etag: 'W/"weak"',
      "last-modified": "Mon, 05 Jan 2026 10:00:00 GMT",
    }
    const { stored, requests } = await importFrom(harness, (incoming, answer, count) => {
      const cutAt = count === 1 ? PART_BYTES + 7 : undefined
      sendRest(incoming, answer, { bytes: large, headers, cutAt })
    })
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(requests[1]?.headers["if-range"]).toBe("Mon, 05 Jan 2026 10:00:00 GMT")
  })

  test("resumes while its bytes are decoded", async () => {
    const coded = gzipSync(large, { level: 1 })
    const headers = { "content-encoding": "gzip", ...ETAG }
    const { stored } = await importFrom(harness, (incoming, answer, count) => {
      const cutAt = count === 1 ? coded.length - 100 : undefined
      sendRest(incoming, answer, { bytes: coded, headers, cutAt })
    })
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("resumes without range support by skipping stored bytes", async () => {
    const { stored, requests } = await importFrom(harness, (incoming, answer, count) => {
      delete incoming.headers.range
      const cutAt = count === 1 ? PART_BYTES + 7 : undefined
      sendRest(incoming, answer, { bytes: large, headers: ETAG, cutAt })
    })
    expect(requests.length).toBe(2)
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("restarts without an ETag or Last-Modified", async () => {
    const { result, stored, requests } = await importFrom(harness, (incoming, answer, count) => {
      sendRest(incoming, answer, { bytes: large, cutAt: count === 1 ? PART_BYTES + 7 : undefined })
    })
    expect(result).toMatchObject({ is_resumable: false, sha256 })
    expect(requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined])
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("restarts after a change of the source", async () => {
    const other = makeBytes(large.length + 4).subarray(4)
    const { stored } = await importFrom(harness, (incoming, answer, count) => {
      if (count === 1) {
        sendRest(incoming, answer, { bytes: large, headers: ETAG, cutAt: PART_BYTES + 7 })
        return
      }
      delete incoming.headers.range
      sendRest(incoming, answer, { bytes: other, headers: { etag: '"two"' } })
    })
    expect(other.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    expect(harness.io.resumables.size).toBe(0)
  })

  test.for([
    ["another position", "bytes 5-9/10"],
    ["another length", `bytes ${PART_BYTES + 7}-${large.length}/${large.length + 1}`],
    ["no position", undefined],
  ])("is incomplete if each further response has %s", async ([, range]) => {
    const imported = await importFrom(harness, (incoming, answer) => {
      if (rangeStart(incoming) === null) {
        sendRest(incoming, answer, { bytes: large, headers: ETAG, cutAt: PART_BYTES + 7 })
        return
      }
      answer.writeHead(206, range === undefined ? ETAG : { "content-range": range, ...ETAG })
      answer.end(large)
    })
    expect(failureOf(imported).code).toBe("incomplete")
    expect(imported.requests.length).toBe(6)
  })
})

describe("stored parts", () => {
  test("are not downloaded again by a later run", async () => {
    await using source = await startSource((incoming, answer) =>
      sendRest(incoming, answer, { bytes: large, headers: ETAG }),
    )
    const task_id = crypto.randomUUID()
    // Its second part ends the first run after the first part is stored.
    harness.io.intercept = async (call) => {
      if (!call.startsWith("PUT /outputs/file/resumable/parts/2")) return null
      await waitFor(() => [...harness.io.resumables.values()][0]?.parts.has(1))
      return new Response(null, { status: 410 })
    }
    const url = `${source.origin}/film.mp4`
    void importUrl(harness, url, {}, { task_id }).catch(() => undefined)
    await expect
      .poll(() => [...harness.io.resumables.values()][0]?.parts.has(1), PATIENT)
      .toBe(true)
    await expect.poll(async () => (await harness.workspaces()).length, PATIENT).toBe(0)
    harness.io.intercept = () => null
    const before = harness.io.requests.length
    const { result, stored } = await importUrl(harness, url, {}, { task_id, fence: 2 })
    expect(result).toMatchObject({ size_bytes: large.length, is_resumable: true })
    // This run downloaded only the rest of the bytes.
    expect(result).not.toHaveProperty("sha256")
    expect(large.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
    const calls = harness.io.requests.slice(before).map(({ call }) => call)
    expect(calls.filter((call) => call.startsWith("PUT"))).not.toContain(
      "PUT /outputs/file/resumable/parts/1",
    )
    // A third run, as after a lost report: everything is stored already.
    const again = await importUrl(harness, url, {}, { task_id, fence: 3 })
    expect(again.result).toEqual(result)
  })
})
