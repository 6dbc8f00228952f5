import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { toHex } from "../../../../src/platform/crypto/hex.ts"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { readProblem } from "../../../support/problem.ts"
import { sweepDirectly } from "../../../support/sweep.ts"
import {
  createTestTusUpload,
  readTusOffset,
  patchTusUpload,
  makeTusMetadata,
  makeTusSender,
} from "../../../support/tus.ts"
import type { SendTus } from "../../../support/tus.ts"

const MIB = 1024 ** 2
const PART_BYTES = 5 * MIB

let caller: TestCaller
let accountId: string
let send: SendTus

beforeEach(async () => {
  caller = await makeCaller(`tus ${crypto.randomUUID()}`)
  accountId = await findCallerAccountId(caller)
  send = makeTusSender(caller)
})

/** Returns bytes of which no two places are alike. */
function makeBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = 1
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = state >>> 16
  }
  return bytes
}

async function readFile(id: string): Promise<Record<string, unknown>> {
  return await (await caller.call(`/files/${id}`)).json()
}

/** Downloads the bytes of a File by its record's URL. */
async function download(id: string): Promise<Uint8Array> {
  const record = await readFile(id)
  const redirect = await caller.call(
    new URL(String(record["download_url"])).pathname.replace("/v1", ""),
  )
  const answer = await fetchWorker(redirect.headers.get("location") ?? "")
  return new Uint8Array(await answer.arrayBuffer())
}

async function listObjects(prefix: string): Promise<string[]> {
  const { objects } = await env.MEDIA.list({ prefix: `${accountId}/${prefix}` })
  return objects.map(({ key }) => key)
}

async function countRows(table: string): Promise<number> {
  const row = await env.DB.prepare(`select count(*) as rows from ${table} where account_id = ?`)
    .bind(accountId)
    .first<{ rows: number }>()
  return row?.rows ?? 0
}

describe("an upload by tus", () => {
  it.each([
    ["one chunk", 3 * MIB, 3 * MIB],
    ["chunks below a part", 12 * MIB + 7, 2 * MIB + 1],
    ["chunks of exactly a part", 3 * PART_BYTES, PART_BYTES],
    ["chunks above a part", 2 * PART_BYTES + 5, 7 * MIB],
    ["one chunk of several parts", 16 * MIB + 3, 16 * MIB + 3],
  ])("in %s becomes a File with the same bytes and leaves nothing", async (_, size, chunk) => {
    const bytes = makeBytes(size)
    const path = await createTestTusUpload(send, size)
    for (let offset = 0; offset < size; offset += chunk) {
      const answer = await patchTusUpload(send, path, {
        offset,
        bytes: bytes.subarray(offset, offset + chunk),
      })
      const next = Math.min(size, offset + chunk)
      expect([answer.status, answer.headers.get("upload-offset")]).toEqual([204, String(next)])
      expect(await readTusOffset(send, path)).toBe(next)
    }
    const head = await send("HEAD", path)
    const id = path.split("/").at(-1) ?? ""
    expect(head.headers.get("content-location")).toBe(`https://lathe.test/v1/files/${id}`)
    expect(await readFile(id)).toMatchObject({
      id,
      name: "film.bin",
      size_bytes: size,
      source: "upload",
    })
    expect(await download(id)).toEqual(bytes)
    expect(await countRows("uploads")).toBe(0)
    await sweepDirectly(env, Date.now() + 1000)
    expect(await listObjects("")).toEqual([`${accountId}/uploads/${id}/media`])
  })

  it("has the checksum of its bytes if one request brought them all", async () => {
    const bytes = makeBytes(1000)
    const path = await createTestTusUpload(send, bytes.length)
    await patchTusUpload(send, path, { offset: 0, bytes })
    const digest = toHex(await crypto.subtle.digest("SHA-256", bytes))
    expect(await readFile(path.split("/").at(-1) ?? "")).toMatchObject({ sha256: digest })
  })

  it("takes its bytes with the creation", async () => {
    const answer = await send(
      "POST",
      "/uploads",
      {
        "upload-length": "5",
        "content-type": "application/offset+octet-stream",
        "upload-metadata": makeTusMetadata({
          filename: "a.txt",
          metadata: '{"case": "7"}',
          expires_in: "600",
        }),
      },
      "hello",
    )
    const record = await answer.json<Record<string, string>>()
    expect([answer.status, answer.headers.get("upload-offset")]).toEqual([201, "5"])
    expect(record).toMatchObject({ name: "a.txt", offset_bytes: 5, size_bytes: 5 })
    expect(answer.headers.get("content-location")).toBe(record["file_url"])
    expect(await readFile(record["id"] ?? "")).toMatchObject({ metadata: { case: "7" } })
  })

  it("shows its metadata, its size and its time of removal", async () => {
    const pairs = { filename: "Müller.mp4", filetype: "video/mp4", relativePath: "null" }
    const path = await createTestTusUpload(send, 10, pairs)
    const head = await send("HEAD", path)
    expect(Object.fromEntries(head.headers)).toMatchObject({
      "tus-resumable": "1.0.0",
      "upload-length": "10",
      "upload-offset": "0",
      "upload-metadata": makeTusMetadata(pairs),
      "cache-control": "no-store",
    })
    const expiry = Date.parse(head.headers.get("upload-expires") ?? "")
    expect(expiry).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    const record = await (await send("GET", path)).json()
    expect(record).toMatchObject({ name: "Müller.mp4", content_type: "video/mp4", file_url: null })
  })

  it("is removed with its bytes a day after its last bytes", async () => {
    const path = await createTestTusUpload(send, 9 * MIB)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(7 * MIB) })
    expect((await listObjects("tails/")).length).toBe(1)
    // The first sweep removes the upload, the second one its tails.
    await sweepDirectly(env, Date.now() + 25 * 3_600_000)
    await sweepDirectly(env, Date.now() + 26 * 3_600_000)
    expect((await send("HEAD", path)).status).toBe(404)
    expect([await countRows("uploads"), await countRows("tus_uploads")]).toEqual([0, 0])
    expect(await listObjects("")).toEqual([])
  })
})

describe("a request at the wrong moment", () => {
  it("is a 409 with the right offset", async () => {
    const path = await createTestTusUpload(send, 10)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4) })
    const answer = await patchTusUpload(send, path, { offset: 3, bytes: makeBytes(2) })
    expect(answer.headers.get("upload-offset")).toBe("4")
    expect(await readProblem(answer)).toMatchObject({ status: 409, code_name: "offset_conflict" })
  })

  it("is a 413 beyond the size, and changes nothing", async () => {
    const path = await createTestTusUpload(send, 10)
    const answer = await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(11) })
    expect(await readProblem(answer)).toMatchObject({ status: 413 })
    expect(await readTusOffset(send, path)).toBe(0)
  })

  it("repeats the end of an upload without a second File", async () => {
    const path = await createTestTusUpload(send, 4)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4) })
    const again = await patchTusUpload(send, path, { offset: 4, bytes: new Uint8Array() })
    expect(again.status).toBe(204)
    expect(again.headers.get("content-location")).toContain("/v1/files/")
    expect(await (await caller.call("/files")).json<unknown[]>()).toHaveLength(1)
  })

  it("of two at the same offset, one stores its bytes and the other is told so", async () => {
    const path = await createTestTusUpload(send, 12 * MIB)
    const bytes = makeBytes(12 * MIB)
    const half = bytes.subarray(0, 6 * MIB)
    const answers = await Promise.all(
      [0, 1].map(() => patchTusUpload(send, path, { offset: 0, bytes: half })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(204)
    for (const status of statuses) expect([204, 409, 423]).toContain(status)
    const offset = await readTusOffset(send, path)
    await patchTusUpload(send, path, { offset, bytes: bytes.subarray(offset) })
    expect(await download(path.split("/").at(-1) ?? "")).toEqual(bytes)
  })
})

describe("an upload whose bytes are all there", () => {
  async function setStored(bytes: number): Promise<void> {
    await env.DB.prepare(
      "insert into account_storage (account_id, bytes) values (?1, ?2) on conflict do update set bytes = ?2",
    )
      .bind(accountId, bytes)
      .run()
  }

  it.each([3000, 7 * MIB])(
    "of %d keeps them until the account has room for the File",
    async (size) => {
      const bytes = makeBytes(size)
      const path = await createTestTusUpload(send, size)
      const { storage_bytes } = await limitsOf()
      await setStored(storage_bytes)
      expect((await patchTusUpload(send, path, { offset: 0, bytes })).status).toBe(403)
      const empty = { offset: size, bytes: new Uint8Array() }
      expect((await patchTusUpload(send, path, empty)).status).toBe(403)
      expect((await patchTusUpload(send, path, { offset: size, bytes: makeBytes(1) })).status).toBe(
        413,
      )
      await setStored(0)
      expect((await patchTusUpload(send, path, empty)).status).toBe(204)
      expect(await download(path.split("/").at(-1) ?? "")).toEqual(bytes)
    },
  )

  it("is not found after the deletion of its File", async () => {
    const path = await createTestTusUpload(send, 4)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4) })
    await caller.call(path.replace("uploads", "files"), { method: "DELETE" })
    expect((await send("HEAD", path)).status).toBe(404)
    expect((await send("GET", path)).status).toBe(404)
  })
})

it.each([1000, 12 * MIB])("a DELETE during a PATCH of %d bytes leaves nothing", async (size) => {
  const path = await createTestTusUpload(send, size)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const answer = caller.call(path, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: readable,
  })
  const writer = writable.getWriter()
  await writer.write(makeBytes(size / 2))
  await vi.waitUntil(async () => {
    const row = await env.DB.prepare("select writer from tus_uploads where account_id = ?")
      .bind(accountId)
      .first<{ writer: string | null }>()
    return row?.writer !== null
  })
  expect((await send("DELETE", path)).status).toBe(204)
  await writer.write(makeBytes(size / 2)).catch(() => undefined)
  await writer.close().catch(() => undefined)
  expect([404, 423]).toContain((await answer).status)
  await sweepDirectly(env, Date.now() + 1000)
  expect(await listObjects("")).toEqual([])
  expect([await countRows("uploads"), await countRows("tus_uploads")]).toEqual([0, 0])
})

it("an Idempotency-Key of an upload is not that of a create", async () => {
  const headers = { "idempotency-key": "order-1" }
  for (let count = 0; count < 2; count += 1) {
    const path = await createTestTusUpload(send, 4)
    expect(
      (await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4), headers })).status,
    ).toBe(204)
  }
  const body = JSON.stringify({ file_url: "https://media.example/film.mp4" })
  const json = { ...headers, "content-type": "application/json" }
  expect((await caller.call("/files", { method: "POST", headers: json, body })).status).toBe(201)
})

describe("a checksum", () => {
  it.each(["sha1", "sha256", "sha512", "md5"])("of %s is compared", async (name) => {
    const bytes = makeBytes(7 * MIB)
    const algorithm =
      { sha1: "SHA-1", sha256: "SHA-256", sha512: "SHA-512", md5: "MD5" }[name] ?? ""
    const digest = btoa(
      String.fromCharCode(...new Uint8Array(await crypto.subtle.digest(algorithm, bytes))),
    )
    const path = await createTestTusUpload(send, 10 * MIB)
    const headers = { "upload-checksum": `${name} ${digest}` }
    const wrong = await patchTusUpload(send, path, {
      offset: 0,
      bytes: bytes.slice().fill(9, 100, 101),
      headers,
    })
    expect(await readProblem(wrong)).toMatchObject({ status: 460, code_name: "checksum_mismatch" })
    expect(await readTusOffset(send, path)).toBe(0)
    const created = await send(
      "POST",
      "/uploads",
      { "upload-length": "5", "content-type": "application/offset+octet-stream", ...headers },
      "hello",
    )
    expect(created.status).toBe(460)
    expect(await (await caller.call("/uploads")).json<unknown[]>()).toHaveLength(1)
    const right = await patchTusUpload(send, path, { offset: 0, bytes, headers })
    expect(right.status).toBe(204)
    const rest = await patchTusUpload(send, path, {
      offset: bytes.length,
      bytes: makeBytes(3 * MIB),
    })
    expect(rest.status).toBe(204)
    const whole = new Uint8Array(10 * MIB)
    whole.set(bytes)
    whole.set(makeBytes(3 * MIB), bytes.length)
    expect(await download(path.split("/").at(-1) ?? "")).toEqual(whole)
  })

  it("of an unknown algorithm is a 400", async () => {
    const path = await createTestTusUpload(send, 4)
    const headers = { "upload-checksum": "crc32 AAAA" }
    const answer = await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4), headers })
    expect(await readProblem(answer)).toMatchObject({
      status: 400,
      details: [{ field: "Upload-Checksum" }],
    })
  })
})

describe("a DELETE", () => {
  it("removes an unfinished upload with its bytes", async () => {
    const path = await createTestTusUpload(send, 9 * MIB)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(7 * MIB) })
    expect((await send("DELETE", path)).status).toBe(204)
    expect((await send("HEAD", path)).status).toBe(404)
    await sweepDirectly(env, Date.now() + 1000)
    expect(await listObjects("")).toEqual([])
    expect([await countRows("uploads"), await countRows("tus_uploads")]).toEqual([0, 0])
  })

  it("of an upload that became a File is a 409", async () => {
    const path = await createTestTusUpload(send, 4)
    await patchTusUpload(send, path, { offset: 0, bytes: makeBytes(4) })
    expect(await readProblem(await send("DELETE", path))).toMatchObject({
      code_name: "already_final",
    })
  })
})

async function limitsOf(): Promise<{ storage_bytes: number; file_bytes: number }> {
  const account = await (await caller.call("/account")).json<{ limits: Record<string, number> }>()
  const { storage_bytes = 0, file_bytes = 0 } = account.limits
  return { storage_bytes, file_bytes }
}

describe("another account", () => {
  it("sees nothing of an upload", async () => {
    const path = await createTestTusUpload(send, 10)
    const other = makeTusSender(await makeCaller(`other ${crypto.randomUUID()}`))
    expect((await other("HEAD", path)).status).toBe(404)
    expect((await other("DELETE", path)).status).toBe(404)
    expect((await patchTusUpload(other, path, { offset: 0, bytes: makeBytes(3) })).status).toBe(404)
    expect(await readTusOffset(send, path)).toBe(0)
  })
})
