import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { resumableUploadResponseSchema } from "../../src/contract/resumable-upload.ts"
import { callIo, PART_BYTES_MIN, putPart, WRONG_LENGTHS } from "./io-caller.ts"
import type { IoUnderTest } from "./io-caller.ts"

/** Registers the tests of resumable uploads, in the caller's `describe`. */
export function testResumableRoutes(open: () => Promise<IoUnderTest>): void {
  let io: IoUnderTest
  let path: string
  const first = new Uint8Array(PART_BYTES_MIN).fill(1)
  const second = new Uint8Array(10).fill(2)

  beforeEach(async () => {
    io = await open()
    path = `/outputs/${io.outputKeys[0]}/resumable`
  })

  afterEach(() => io.close())

  async function statusOf(target: string, body: unknown): Promise<number> {
    const response = await callIo(io, target, { method: "POST", body: JSON.stringify(body) })
    await response.arrayBuffer()
    return response.status
  }

  async function begin(validator: string) {
    const body = JSON.stringify({ validator, content_type: "video/mp4" })
    const answer = await callIo(io, path, { method: "POST", body })
    return resumableUploadResponseSchema.parse(await answer.json())
  }

  /** Begins an upload and expects that it is incomplete. */
  async function beginOpen(validator: string) {
    const begun = await begin(validator)
    if ("stored_bytes" in begun) throw new Error("it is complete")
    const query = `upload_id=${encodeURIComponent(begun.upload_id)}`
    return { ...begun, query }
  }

  function partPath(number: number, query: string): string {
    return `${path}/parts/${number}?${query}`
  }

  describe("a resumable upload", () => {
    test("begins without parts and is stored by its completion", async () => {
      const { query, parts } = await beginOpen("one")
      expect(parts).toEqual([])
      const etags = [
        await putPart(io, partPath(1, query), first),
        await putPart(io, partPath(2, query), second),
      ]
      expect(await io.readResumable(io.outputKeys[0])).toBeNull()
      const body = { parts: etags.map((etag, index) => ({ part_number: index + 1, etag })) }
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(200)
      const stored = await io.readResumable(io.outputKeys[0])
      expect(stored?.contentType).toBe("video/mp4")
      expect(stored?.bytes.length).toBe(first.length + second.length)
      expect(await io.readStored(io.outputKeys[0])).toBeNull()
      // A run repeats the completion if the first response was lost.
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(200)
      // A later run begins again if the first one was lost before its report.
      expect(await begin("one")).toEqual({ stored_bytes: first.length + second.length })
      expect((await beginOpen("another")).parts).toEqual([])
    })

    test("is found again with its parts by the same validator", async () => {
      const { upload_id, query } = await beginOpen("same")
      const etag = await putPart(io, partPath(1, query), first)
      const again = await beginOpen("same")
      expect(again.upload_id).toBe(upload_id)
      expect(again.parts).toEqual([{ part_number: 1, size_bytes: first.length, etag }])
      const last = await putPart(io, partPath(2, query), second)
      const body = {
        parts: [
          { part_number: 1, etag },
          { part_number: 2, etag: last },
        ],
      }
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(200)
      const bytes = (await io.readResumable(io.outputKeys[0]))?.bytes
      expect(bytes?.length).toBe(first.length + second.length)
    })

    test("is aborted by another validator", async () => {
      const { upload_id, query } = await beginOpen("before")
      await putPart(io, partPath(1, query), first)
      const changed = await beginOpen("after")
      expect(changed.upload_id).not.toBe(upload_id)
      expect(changed.parts).toEqual([])
      const late = await callIo(io, partPath(2, query), { method: "PUT", body: second })
      expect(late.status).toBe(404)
      expect((await beginOpen("after")).upload_id).toBe(changed.upload_id)
    })

    test("accepts a part again; the last one counts", async () => {
      const { query } = await beginOpen("twice")
      const etags = []
      for (const fill of [1, 2]) {
        const bytes = new Uint8Array(10).fill(fill)
        etags.push(await putPart(io, partPath(1, query), bytes))
      }
      const [, etag = ""] = etags
      expect((await beginOpen("twice")).parts).toEqual([{ part_number: 1, size_bytes: 10, etag }])
      const body = { parts: [{ part_number: 1, etag }] }
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(200)
      expect((await io.readResumable(io.outputKeys[0]))?.bytes).toEqual(second)
    })

    test("ignores a part with a wrong length", async () => {
      const { query } = await beginOpen("length")
      await putPart(io, partPath(1, query), second)
      for (const [, body, length] of WRONG_LENGTHS) {
        const headers = { "content-length": length }
        const answer = await callIo(io, partPath(1, query), { method: "PUT", headers, body })
        expect(answer.status).toBe(408)
        expect((await beginOpen("length")).parts).toEqual([])
      }
      const etag = await putPart(io, partPath(1, query), second)
      expect((await beginOpen("length")).parts).toEqual([{ part_number: 1, size_bytes: 10, etag }])
    })

    test("is removed by a completion with unknown parts", async () => {
      const { query } = await beginOpen("wrong")
      await putPart(io, partPath(1, query), first)
      const body = {
        parts: [
          { part_number: 1, etag: "x" },
          { part_number: 2, etag: "x" },
        ],
      }
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(409)
      expect(await statusOf(`${path}/complete?${query}`, body)).toBe(404)
      expect((await beginOpen("wrong")).parts).toEqual([])
    })

    test("is refused for a malformed request", async () => {
      const content_type = "video/mp4"
      for (const validator of [undefined, "", 1, "x".repeat(201)]) {
        expect(await statusOf(path, { validator, content_type })).toBe(400)
      }
      const other = "/outputs/other/resumable"
      expect(await statusOf(other, { validator: "x", content_type })).toBe(404)
      const { query } = await beginOpen("right")
      expect(await statusOf(`${path}/complete?${query}`, {})).toBe(400)
      const elsewhere = `/outputs/${io.outputKeys[1]}/resumable`
      const part = { method: "PUT", body: second }
      expect((await callIo(io, `${elsewhere}/parts/1?${query}`, part)).status).toBe(404)
      expect((await callIo(io, `${path}/parts/1?upload_id=nosuch`, part)).status).toBe(404)
    })
  })
}
