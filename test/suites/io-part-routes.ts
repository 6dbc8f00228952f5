import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { callIo, createUpload, PART_BYTES_MIN, putPart, WRONG_LENGTHS } from "./io-caller.ts"
import type { Call, IoUnderTest } from "./io-caller.ts"

/** Registers the tests of outputs in parts, in the caller's `describe`. */
export function testPartRoutes(open: () => Promise<IoUnderTest>): void {
  let io: IoUnderTest
  let path: string
  let id: string
  const first = new Uint8Array(PART_BYTES_MIN).fill(1)
  const second = new Uint8Array(10).fill(2)

  beforeEach(async () => {
    io = await open()
    path = `/outputs/${io.outputKeys[0]}`
    id = await createUpload(io, path, "video/mp4")
  })

  afterEach(() => io.close())

  async function statusOf(target: string, options: Call): Promise<number> {
    const response = await callIo(io, target, options)
    await response.arrayBuffer()
    return response.status
  }

  function partPath(number: number): string {
    return `${path}/parts/${number}?upload_id=${id}`
  }

  /** Completes the upload with parts of these etags and returns the status. */
  async function complete(etags: string[], of = path): Promise<number> {
    const parts = etags.map((etag, index) => ({ part_number: index + 1, etag }))
    const body = JSON.stringify({ parts })
    return await statusOf(`${of}/parts/complete?upload_id=${id}`, { method: "POST", body })
  }

  async function bytesStored(): Promise<Uint8Array | undefined> {
    return (await io.readStored(io.outputKeys[0]))?.bytes
  }

  describe("an output in parts", () => {
    test("is stored by its completion", async () => {
      const etags = [await putPart(io, partPath(1), first), await putPart(io, partPath(2), second)]
      expect(await bytesStored()).toBeUndefined()
      expect(await complete(etags)).toBe(200)
      const stored = await io.readStored(io.outputKeys[0])
      expect(stored?.contentType).toBe("video/mp4")
      expect(stored?.bytes.length).toBe(first.length + second.length)
      expect(stored?.bytes.subarray(-12)).toEqual(
        new Uint8Array([1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
      )
      // A run repeats the completion if the first response was lost.
      expect(await complete(etags)).toBe(200)
      expect(await complete(etags, `/outputs/${io.outputKeys[1]}`)).toBe(404)
    })

    test("accepts a part again", async () => {
      await putPart(io, partPath(1), new Uint8Array(3))
      expect(await complete([await putPart(io, partPath(1), second)])).toBe(200)
      expect(await bytesStored()).toEqual(second)
    })

    test("accepts a part again after a wrong length", async () => {
      for (const [, body, length] of WRONG_LENGTHS) {
        const headers = { "content-length": length }
        expect(await statusOf(partPath(1), { method: "PUT", headers, body })).toBe(408)
      }
      const headers = { "content-length": undefined }
      expect(await statusOf(partPath(1), { method: "PUT", headers })).toBe(411)
      expect(await complete([await putPart(io, partPath(1), second)])).toBe(200)
      expect(await bytesStored()).toEqual(second)
    })

    test("is removed by a completion with unknown parts", async () => {
      const etag = await putPart(io, partPath(1), first)
      expect(await complete([etag, etag])).toBe(409)
      expect(await complete([etag])).toBe(404)
    })

    test("may be a member", async () => {
      path += "/members/a.ts"
      id = await createUpload(io, path, "video/mp2t")
      expect(await complete([await putPart(io, partPath(1), second)])).toBe(200)
      expect((await io.readStored(io.outputKeys[0], "a.ts"))?.bytes).toEqual(second)
    })

    test("returns 404 for an unknown upload", async () => {
      const another = await createUpload(io, `/outputs/${io.outputKeys[1]}`, "video/mp4")
      for (id of ["nosuch", "", another]) {
        expect(await statusOf(partPath(1), { method: "PUT", body: "x" })).toBe(404)
        expect(await complete(["x"])).toBe(404)
      }
    })
  })
}
