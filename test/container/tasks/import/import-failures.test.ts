import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { Harness } from "../../harness.ts"
import { failureOf, importFrom, startImportHarness } from "./import-harness.ts"
import { makeBytes, sendRest } from "./source-server.ts"

const small = makeBytes(100_000)

let harness: Harness

beforeAll(async () => {
  harness = await startImportHarness()
})

afterAll(() => harness.close())

beforeEach(() => {
  harness.io.outputs.clear()
})

describe("an import fails", () => {
  test.for([
    [401, "login_required"],
    [403, "login_required"],
    [404, "not_found"],
    [410, "not_found"],
    [418, "not_found"],
    [451, "geo_blocked"],
    [204, "not_found"],
    [501, "server_error"],
    [304, "server_error"],
  ] as const)("with status %d as %s, without a retry", async ([status, code]) => {
    const imported = await importFrom(harness, (_, answer) => void answer.writeHead(status).end())
    expect(failureOf(imported).code).toBe(code)
    expect(failureOf(imported).message).toContain(String(status))
    expect(imported.requests.length).toBe(1)
  })

  test("only after retries: a 503 and a reset are retried", async () => {
    const { stored, requests } = await importFrom(harness, (incoming, answer, count) => {
      if (count === 1) answer.writeHead(503, { "retry-after": "1" }).end()
      else if (count === 2) incoming.socket.resetAndDestroy()
      else sendRest(incoming, answer, { bytes: small })
    })
    expect(requests.length).toBe(3)
    expect(small.equals(stored?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("at once if its server asks for a late retry", async () => {
    const imported = await importFrom(
      harness,
      (_, answer) => void answer.writeHead(429, { "retry-after": "3600" }).end(),
    )
    expect(failureOf(imported).code).toBe("rate_limited_by_site")
  })

  test("of an empty file as not found", async () => {
    const imported = await importFrom(harness, (_, answer) => void answer.writeHead(200).end())
    expect(failureOf(imported).code).toBe("not_found")
  })

  test("of a partial response as incomplete", async () => {
    const headers = { "content-range": `bytes 10-${small.length - 1}/${small.length}` }
    for (const given of [headers, { "content-type": "multipart/byteranges; boundary=x" }]) {
      const imported = await importFrom(
        harness,
        (_, answer) => void answer.writeHead(206, given).end(small.subarray(10)),
      )
      expect(failureOf(imported).code).toBe("incomplete")
    }
  })

  test("of a large file as too large, before a byte is stored", async () => {
    const imported = await importFrom(
      harness,
      (incoming, answer) => sendRest(incoming, answer, { bytes: small }),
      "/film.mp4",
      { bytes_max: small.length - 1 },
    )
    expect(failureOf(imported).code).toBe("too_large")
    expect(harness.io.outputs.size).toBe(0)
  })

  test("of a decompression bomb at the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const imported = await importFrom(
      harness,
      (_, answer) => void answer.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      "/film.mp4",
      { bytes_max: 1024 * 1024 },
    )
    expect(failureOf(imported).code).toBe("too_large")
    expect(harness.io.outputs.size).toBe(0)
  })

  test.for([
    ["gzip", gzipSync(small).subarray(0, 5000)],
    ["gzip", small],
    ["br", small],
    ["zstd", small],
  ] as const)("of an invalid %s body as incomplete", async ([coding, bytes]) => {
    const imported = await importFrom(
      harness,
      (_, answer) => void answer.writeHead(200, { "content-encoding": coding }).end(bytes),
    )
    expect(failureOf(imported).code).toBe("incomplete")
  })

  test("of an unknown content coding as a server error", async () => {
    const imported = await importFrom(
      harness,
      (_, answer) => void answer.writeHead(200, { "content-encoding": "rot13" }).end(small),
    )
    expect(failureOf(imported)).toMatchObject({ code: "server_error" })
  })

  test("after its time limit as too slow", async () => {
    const imported = await importFrom(
      harness,
      (_, answer) => {
        answer.writeHead(200)
        answer.write(small)
      },
      "/film.mp4",
      { run_seconds_max: 1 },
    )
    expect(failureOf(imported).code).toBe("too_slow")
  })

  test("of endless redirects as too many redirects", async () => {
    const imported = await importFrom(
      harness,
      (_, answer, count) => void answer.writeHead(302, { location: `/${count}` }).end(),
    )
    expect(failureOf(imported).code).toBe("too_many_redirects")
  })

  test("of a redirect to a private address as not allowed", async () => {
    const imported = await importFrom(
      harness,
      (_, answer) => void answer.writeHead(302, { location: "http://127.0.0.2/" }).end(),
    )
    expect(failureOf(imported).code).toBe("url_not_allowed")
  })
})
