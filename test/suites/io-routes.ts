import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { RUNNER_BOOT_ID_HEADER, PROTOCOL_HEADER } from "../../src/contract/protocol.ts"
import { callIo, WRONG_LENGTHS } from "./io-caller.ts"
import type { Call, IoUnderTest } from "./io-caller.ts"

/**
 * Registers the tests of a task's routes for inputs, outputs and reports, in the caller's
 * `describe`.
 */
export function testIoRoutes(open: () => Promise<IoUnderTest>): void {
  let io: IoUnderTest

  beforeEach(async () => {
    io = await open()
  })

  afterEach(() => io.close())

  function call(path: string, options?: Call): Promise<Response> {
    return callIo(io, path, options)
  }

  async function statusOf(path: string, options?: Call): Promise<number> {
    const response = await call(path, options)
    await response.arrayBuffer()
    return response.status
  }

  function report(fields: Record<string, unknown>): Call {
    const body = { boot: io.boot, at: new Date().toISOString(), ...fields }
    return { method: "POST", body: JSON.stringify(body) }
  }

  describe("every route", () => {
    function routes(): [string, Call][] {
      const [output] = io.outputKeys
      return [
        [`/inputs/${io.input.key}`, {}],
        [`/outputs/${output}`, { method: "PUT", body: "x" }],
        [`/outputs/${output}/members/a.png`, { method: "PUT", body: "x" }],
        [`/outputs/${output}/parts`, { method: "POST" }],
        [`/outputs/${output}/resumable`, { method: "POST", body: "{}" }],
        [`/outputs/${output}/resumable/parts/1`, { method: "PUT", body: "x" }],
        [`/outputs/${output}/resumable/complete`, { method: "POST", body: "{}" }],
        ["/reports", report({ kind: "started" })],
      ]
    }

    test("refuses another version of the protocol", async () => {
      for (const [path, options] of routes()) {
        for (const version of [undefined, "0"]) {
          const headers = { [PROTOCOL_HEADER]: version }
          expect([path, await statusOf(path, { ...options, headers })]).toEqual([path, 426])
        }
      }
    })

    test("refuses a request without the token, or with another", async () => {
      for (const [path, options] of routes()) {
        for (const authorization of [undefined, "Bearer ", `Bearer ${io.token}x`]) {
          const headers = { authorization }
          expect([path, await statusOf(path, { ...options, headers })]).toEqual([path, 401])
        }
      }
    })

    test("refuses the token of another task", async () => {
      for (const [path, options] of routes()) {
        const other = `/io/${crypto.randomUUID()}${path}`
        expect([path, await statusOf(other, options)]).toEqual([path, 401])
      }
    })

    test("returns 410 after the run's end", async () => {
      await io.endRun()
      for (const [path, options] of routes()) {
        expect([path, await statusOf(path, options)]).toEqual([path, 410])
      }
    })
  })

  test.for([
    ["POST", "/nothing"],
    ["GET", "/"],
    ["POST", "/inputs/in_1"],
    ["GET", "/inputs/not-a-key"],
    ["PUT", "/outputs/not-a-key"],
    ["GET", "/reports"],
  ])("%s %s returns 404", async ([method = "", path = ""]) => {
    expect(await statusOf(path, { method })).toBe(404)
  })

  describe("an input", () => {
    test("is sent completely", async () => {
      const response = await call(`/inputs/${io.input.key}`)
      expect(response.status).toBe(200)
      expect(response.headers.get("content-length")).toBe(String(io.input.bytes.length))
      expect(await readBytes(response)).toEqual(io.input.bytes)
    })

    test("is sent from an offset", async () => {
      const { key, bytes } = io.input
      const response = await call(`/inputs/${key}`, { headers: { range: "bytes=4-" } })
      expect(response.status).toBe(206)
      const expected = `bytes 4-${bytes.length - 1}/${bytes.length}`
      expect(response.headers.get("content-range")).toBe(expected)
      expect(response.headers.get("content-length")).toBe(String(bytes.length - 4))
      expect(await readBytes(response)).toEqual(bytes.subarray(4))
    })

    test("is sent for a range of bytes", async () => {
      const { key, bytes } = io.input
      const response = await call(`/inputs/${key}`, { headers: { range: "bytes=2-5" } })
      expect(response.status).toBe(206)
      expect(response.headers.get("content-range")).toBe(`bytes 2-5/${bytes.length}`)
      expect(await readBytes(response)).toEqual(bytes.subarray(2, 6))
    })

    test.for(["bytes=0-", "bytes=x-"])("is sent completely for the range %s", async (range) => {
      const response = await call(`/inputs/${io.input.key}`, { headers: { range } })
      expect(response.status).toBe(200)
      expect(await readBytes(response)).toEqual(io.input.bytes)
    })

    test("of another task returns 410", async () => {
      expect(await statusOf("/inputs/other")).toBe(410)
    })
  })

  describe("an output", () => {
    test("is stored with its content type, and a later one replaces it", async () => {
      const [key] = io.outputKeys
      for (const text of ["first", "and second"]) {
        const headers = { "content-type": "video/mp4" }
        const path = `/outputs/${key}`
        expect(await statusOf(path, { method: "PUT", headers, body: text })).toBe(200)
        const stored = await io.readStored(key)
        expect(stored?.contentType).toBe("video/mp4")
        expect(new TextDecoder().decode(stored?.bytes)).toBe(text)
      }
    })

    test("may be empty", async () => {
      const [key] = io.outputKeys
      const body = new Uint8Array()
      expect(await statusOf(`/outputs/${key}`, { method: "PUT", body })).toBe(200)
      expect((await io.readStored(key))?.bytes.length).toBe(0)
    })

    test("without a length is refused", async () => {
      const [key] = io.outputKeys
      const headers = { "content-length": undefined }
      const status = await statusOf(`/outputs/${key}`, { method: "PUT", headers })
      expect(status).toBe(411)
      expect(await io.readStored(key)).toBeNull()
    })

    test.for(WRONG_LENGTHS)("of %s is refused and can be sent again", async ([, body, length]) => {
      const [key] = io.outputKeys
      const headers = { "content-length": length }
      expect(await statusOf(`/outputs/${key}`, { method: "PUT", headers, body })).toBe(408)
      expect(await statusOf(`/outputs/${key}`, { method: "PUT", body: "whole" })).toBe(200)
      expect(new TextDecoder().decode((await io.readStored(key))?.bytes)).toBe("whole")
    })

    test("under an unknown key returns 404", async () => {
      expect(await statusOf("/outputs/other", { method: "PUT", body: "x" })).toBe(404)
      expect(await statusOf("/outputs/other/parts", { method: "POST" })).toBe(404)
    })

    test("cannot be read", async () => {
      const [key] = io.outputKeys
      await call(`/outputs/${key}`, { method: "PUT", body: "x" })
      expect(await statusOf(`/outputs/${key}`)).toBe(404)
    })

    test("has members by name", async () => {
      const [key] = io.outputKeys
      const name = "Stück 1 %.ts"
      const path = `/outputs/${key}/members/${encodeURIComponent(name)}`
      const headers = { "content-type": "video/mp2t" }
      expect(await statusOf(path, { method: "PUT", headers, body: "member" })).toBe(200)
      const stored = await io.readStored(key, name)
      expect(stored?.contentType).toBe("video/mp2t")
      expect(new TextDecoder().decode(stored?.bytes)).toBe("member")
      expect(await io.readStored(key)).toBeNull()
    })

    test.for(["a%2Fb", "%ff", "%2e%2e%2fa", "a%00", ""])(
      "has no member of the name %j",
      async (name) => {
        const [key] = io.outputKeys
        const path = `/outputs/${key}/members/${name}`
        expect(await statusOf(path, { method: "PUT", body: "x" })).toBe(400)
      },
    )
  })

  describe("a report", () => {
    test("of the current run is accepted", async () => {
      expect(await statusOf("/reports", report({ kind: "started" }))).toBe(200)
      expect(await statusOf("/reports", report({ kind: "progress", percent: 12.5 }))).toBe(200)
    })

    test("is refused if it is malformed", async () => {
      for (const body of ["{", "{}", JSON.stringify({ kind: "nosuch", boot: io.boot })]) {
        expect(await statusOf("/reports", { method: "POST", body })).toBe(400)
      }
    })

    test("is refused if its process differs from its header", async () => {
      for (const boot of [undefined, "another-boot"]) {
        const headers = { [RUNNER_BOOT_ID_HEADER]: boot }
        const started = report({ kind: "started" })
        expect(await statusOf("/reports", { ...started, headers })).toBe(400)
      }
    })
  })
}

async function readBytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer())
}
