import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { openSlowBody, openSlowUpload } from "./slow-upload.ts"
import { countUploads } from "../operate/state-rows.ts"

const BODY_BYTES_MAX = 2_000_000
const account = z.object({ limits: z.object({ upload_body_bytes: z.int().nullable() }) })
const PIECE = new Uint8Array(100_000)

let service: TestService
let key: string

beforeAll(async () => {
  service = await startService({ UPLOAD_BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
  key = await service.makeKey("bodies")
})

afterAll(async () => await service[Symbol.asyncDispose]())

test("an upload with a larger Content-Length is refused before its bytes, with the alternatives", async () => {
  const announced = { "content-type": "multipart/form-data; boundary=b", "x-api-key": key }
  const answer = await fetch(`${service.origin}/v1/files`, {
    method: "POST",
    headers: announced,
    body: new Uint8Array(BODY_BYTES_MAX + 1),
  })
  expect(answer.status).toBe(413)
  const text = await answer.text()
  for (const way of ["2000000 bytes", "file_url", "s3://", "a plan of Cloudflare"]) {
    expect(text).toContain(way)
  }
  const paths = ["/files", "/transcribe", "/normalize"]
  for (const path of paths) {
    const headers = { ...announced, "content-length": BODY_BYTES_MAX + 1 }
    const body = openSlowBody(`${service.origin}/v1${path}`, headers)
    expect([path, await body.answered]).toMatchObject([
      path,
      { status: 413, code: "payload_too_large" },
    ])
  }
})

test("an upload without a length is refused after too many bytes and leaves nothing", async () => {
  const upload = await openSlowUpload(service.origin, { key })
  // The service reads rooms of bytes, and judges each that is full.
  const bytes = BODY_BYTES_MAX + 10 * PIECE.byteLength
  for (let sent = 0; sent <= bytes; sent += PIECE.byteLength) await upload.send(PIECE)
  expect(await upload.answered).toMatchObject({ status: 413, code: "payload_too_large" })
  await expect.poll(() => countUploads(service.stateDir)).toBe(0)
})

test("a body of exactly the limit is accepted, and the account shows the limit", async () => {
  const upload = await openSlowUpload(service.origin, { key, sizeBytes: BODY_BYTES_MAX - 1000 })
  for (let left = BODY_BYTES_MAX - 1000; left > 0; left -= PIECE.byteLength) {
    await upload.send(PIECE.subarray(0, Math.min(left, PIECE.byteLength)))
  }
  upload.end()
  expect(await upload.answered).toMatchObject({ status: 201 })
  expect(await limitOf(service, key)).toBe(BODY_BYTES_MAX)
})

test("a single machine has no limit by default", async () => {
  await using other = await startService()
  expect(await limitOf(other, await other.makeKey("unbounded"))).toBeNull()
})

async function limitOf(of: TestService, apiKey: string): Promise<unknown> {
  const answer = await fetch(`${of.origin}/v1/account`, { headers: { "x-api-key": apiKey } })
  return account.parse(await answer.json()).limits.upload_body_bytes
}
