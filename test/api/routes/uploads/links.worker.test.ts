import { beforeEach, describe, expect, it, vi } from "vitest"
import { fetchWorker, makeCaller } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"
import { patchTusUpload, makeTusMetadata } from "../../../support/tus.ts"
import type { SendTus } from "../../../support/tus.ts"

const PAGE = "https://www.example.com"
/** Head of a PNG file. */
const PNG = Uint8Array.from(
  "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489".match(/../g) ?? [],
  (digits) => Number.parseInt(digits, 16),
)

type Link = { id: string; url: string; file_id: string | null }

let caller: TestCaller

beforeEach(async () => {
  caller = await makeCaller(`links ${crypto.randomUUID()}`)
})

async function makeLink(fields: Record<string, unknown> = {}): Promise<Link> {
  const answer = await caller.post("/uploads/links", fields)
  expect(answer.status).toBe(201)
  return await answer.json()
}

async function readLink(id: string): Promise<Link> {
  return await (await caller.call(`/uploads/links/${id}`)).json()
}

async function readFile(id: unknown): Promise<Record<string, unknown>> {
  return await (await caller.call(`/files/${String(id)}`)).json()
}

/** Sends a whole file by a PUT without a key. */
async function put(url: string, bytes: Uint8Array, headers: Record<string, string> = {}) {
  return await fetchWorker(url, { method: "PUT", headers, body: bytes })
}

async function post(url: string, bytes: Uint8Array, name: string) {
  const body = new FormData()
  body.append("file", new File([bytes], name))
  return await fetchWorker(url, { method: "POST", body })
}

/** Sends requests of tus to URLs, without a key. */
async function send(...[method, url, headers = {}, body]: Parameters<SendTus>) {
  const init = { method, headers: { "tus-resumable": "1.0.0", ...headers } }
  return await fetchWorker(url, body === undefined ? init : { ...init, body })
}

async function createAt(url: string, sizeBytes: number): Promise<Response> {
  const metadata = makeTusMetadata({ filename: "cat.png", webhook: "https://evil.example/" })
  return await send("POST", url, {
    "upload-length": String(sizeBytes),
    "upload-metadata": metadata,
  })
}

describe("an upload link", () => {
  it("takes one file by a PUT, with the fields of its owner", async () => {
    const link = await makeLink({ metadata: { visit: "7" }, publish: true })
    const answer = await put(`${link.url}?filename=a%2Fcat.png`, PNG)
    const created = await answer.json<{ id: string }>()
    expect([answer.status, Object.keys(created)]).toEqual([201, ["id"]])
    expect(await readFile(created.id)).toMatchObject({
      name: "cat.png",
      content_type: "image/png",
      size_bytes: PNG.length,
      metadata: { visit: "7" },
    })
    expect(await readLink(link.id)).toMatchObject({ file_id: created.id })
    const again = await put(link.url, PNG)
    expect(await readProblem(again)).toMatchObject({ status: 410, code_name: "link_used" })
    expect((await post(link.url, PNG, "b.png")).status).toBe(410)
    expect((await createAt(link.url, 5)).status).toBe(410)
  })

  it("takes one of several files that are put at once, and tells the others so", async () => {
    const link = await makeLink()
    const answers = await Promise.all([put(link.url, PNG), put(link.url, PNG), put(link.url, PNG)])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 410, 410])
  })

  it("keeps its own routes from overridden methods", async () => {
    const link = await makeLink()
    const headers = { "x-http-method-override": "DELETE" }
    const path = `/uploads/links/${link.id}`
    expect((await caller.call(path, { method: "POST", headers })).status).toBe(405)
    expect((await readLink(link.id)).id).toBe(link.id)
  })

  it("takes one file by a form", async () => {
    const link = await makeLink()
    const answer = await post(link.url, PNG, "cat.png")
    const { id } = await answer.json<{ id: string }>()
    expect(await readFile(id)).toMatchObject({ name: "cat.png", size_bytes: PNG.length })
    expect(await readLink(link.id)).toMatchObject({ file_id: id })
  })

  it("takes one file by tus, in pieces, and tells the File", async () => {
    const link = await makeLink()
    const created = await createAt(link.url, PNG.length)
    const place = created.headers.get("location") ?? ""
    expect([created.status, place.startsWith(`${link.url}/`)]).toEqual([201, true])
    const first = await patchTusUpload(send, place, { offset: 0, bytes: PNG.subarray(0, 10) })
    expect(first.status).toBe(204)
    expect((await send("HEAD", place)).headers.get("upload-offset")).toBe("10")
    const last = await patchTusUpload(send, place, { offset: 10, bytes: PNG.subarray(10) })
    const id = last.headers.get("content-location")?.split("/").at(-1)
    expect(await readFile(id)).toMatchObject({ name: "cat.png", size_bytes: PNG.length })
    const head = await send("HEAD", place)
    expect(head.headers.get("content-location")).toContain(id)
    expect(await readLink(link.id)).toMatchObject({ file_id: id })
  })

  it("is used up by the first of two uploads that is complete", async () => {
    const link = await makeLink()
    const places = await Promise.all(
      [0, 1].map(async () => (await createAt(link.url, PNG.length)).headers.get("location") ?? ""),
    )
    const answers = await Promise.all(
      places.map((place) => patchTusUpload(send, place, { offset: 0, bytes: PNG })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 410]))
    expect(await (await caller.call("/files")).json<unknown[]>()).toHaveLength(1)
  })

  it.each([
    ["PUT", async (url: string) => await put(`${url}?filename=film.mp4`, PNG)],
    ["POST", async (url: string) => await post(url, PNG, "film.mp4")],
    [
      "PATCH",
      async (url: string) => {
        const place = (await createAt(url, PNG.length)).headers.get("location") ?? ""
        const first = await patchTusUpload(send, place, { offset: 0, bytes: PNG.subarray(0, 8) })
        expect(first.status).toBe(204)
        return await patchTusUpload(send, place, { offset: 8, bytes: PNG.subarray(8) })
      },
    ],
  ])("judges the type by first bytes in a %s", async (_, upload) => {
    const link = await makeLink({ types: ["video/*", "audio/mpeg"] })
    const refused = await upload(link.url)
    expect(await readProblem(refused)).toMatchObject({
      status: 415,
      code_name: "media_type_not_allowed",
      detail: expect.stringContaining("image/png"),
    })
    expect(await (await caller.call("/files")).json()).toEqual([])
    const other = await makeLink({ types: ["image/png"] })
    expect([201, 204]).toContain((await upload(other.url)).status)
  })

  it("judges texts and unknown bytes by their content", async () => {
    const texts = await makeLink({ types: ["text/vtt"] })
    expect((await put(texts.url, new TextEncoder().encode("WEBVTT\n\n"))).status).toBe(201)
    const others = await makeLink({ types: ["text/*"] })
    expect((await put(others.url, Uint8Array.from([0, 1, 2, 3, 255]))).status).toBe(415)
  })

  it("takes no file that is larger than its limit", async () => {
    const link = await makeLink({ size_bytes_max: PNG.length - 1 })
    for (const answer of [
      await put(link.url, PNG),
      await post(link.url, PNG, "cat.png"),
      await createAt(link.url, PNG.length),
    ]) {
      expect(await readProblem(answer)).toMatchObject({
        status: 413,
        detail: expect.stringContaining(`at most ${PNG.length - 1} bytes`),
      })
    }
    expect(await readLink(link.id)).toMatchObject({ file_id: null })
  })

  it("ends with its deletion and its time", async () => {
    const link = await makeLink()
    expect((await caller.call(`/uploads/links/${link.id}`, { method: "DELETE" })).status).toBe(200)
    expect((await put(link.url, PNG)).status).toBe(404)
    expect((await caller.call(`/uploads/links/${link.id}`)).status).toBe(404)
  })

  it("takes four open uploads, and its end removes them", async () => {
    const [used, deleted] = [await makeLink(), await makeLink()]
    for (const { url } of [used, deleted]) {
      for (let count = 0; count < 4; count += 1) expect((await createAt(url, 9)).status).toBe(201)
      const fifth = await createAt(url, 9)
      expect(await readProblem(fifth)).toMatchObject({ status: 429, code_name: "too_many_uploads" })
    }
    expect((await post(used.url, PNG, "cat.png")).status).toBe(201)
    await caller.call(`/uploads/links/${deleted.id}`, { method: "DELETE" })
    await vi.waitFor(async () => {
      expect(await (await caller.call("/uploads")).json()).toEqual([])
    })
  })

  it("leaves the idempotency keys of its owner alone", async () => {
    const link = await makeLink()
    const headers = { "idempotency-key": "order-1" }
    expect((await put(link.url, PNG, headers)).status).toBe(201)
    const body = JSON.stringify({ file_url: "https://media.example/film.mp4" })
    const json = { ...headers, "content-type": "application/json" }
    expect((await caller.call("/files", { method: "POST", headers: json, body })).status).toBe(201)
  })

  it("opens nothing", async () => {
    const link = await makeLink()
    const { id } = await (await put(link.url, PNG)).json<{ id: string }>()
    const secret = link.url.split("/").at(-1) ?? ""
    expect((await fetchWorker(link.url)).status).toBe(404)
    expect((await fetchWorker(`${link.url}/${id}`)).status).toBe(404)
    for (const key of [secret, link.url]) {
      expect((await fetchWorker(`/v1/files/${id}`, { headers: { "x-api-key": key } })).status).toBe(
        401,
      )
    }
    const foreign = await makeLink()
    const mine = await makeLink()
    const place = (await createAt(mine.url, 5)).headers.get("location") ?? ""
    const stolen = `${foreign.url}/${place.split("/").at(-1)}`
    expect((await send("HEAD", stolen)).status).toBe(404)
    expect(
      (await patchTusUpload(send, stolen, { offset: 0, bytes: PNG.subarray(0, 5) })).status,
    ).toBe(404)
    expect((await send("DELETE", stolen)).status).toBe(404)
  })

  it("of another account is unknown", async () => {
    const { id } = await makeLink()
    const other = await makeCaller(`other ${crypto.randomUUID()}`)
    expect((await other.call(`/uploads/links/${id}`)).status).toBe(404)
    expect((await other.call(`/uploads/links/${id}`, { method: "DELETE" })).status).toBe(404)
  })

  it("has CORS for its origins, and refuses pages of others", async () => {
    const link = await makeLink({ origins: [PAGE] })
    const asking = { origin: PAGE, "access-control-request-method": "PATCH" }
    const preflight = await fetchWorker(link.url, { method: "OPTIONS", headers: asking })
    expect(preflight.headers.get("access-control-allow-origin")).toBe(PAGE)
    expect(preflight.headers.get("access-control-allow-methods")).toContain("PATCH")
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Upload-Offset")
    const other = await put(link.url, PNG, { origin: "https://evil.example" })
    expect(await readProblem(other)).toMatchObject({ status: 403, code_name: "forbidden" })
    expect(other.headers.get("access-control-allow-origin")).toBeNull()
    const answer = await put(link.url, PNG, { origin: PAGE })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([201, PAGE])
    expect(answer.headers.get("access-control-expose-headers")).toContain("Content-Location")
  })

  it.each<[Record<string, unknown>, string]>([
    [{ types: ["video"] }, "types.0"],
    [{ origins: ["https://example.com/path"] }, "origins.0"],
    [{ expires_in: 5 }, "expires_in"],
    [{ size_bytes_max: 0 }, "size_bytes_max"],
    [{ webhook: "ftp://example.com" }, "webhook"],
    [{ metadata: { a: 1 } }, "metadata.a"],
    [{ type: ["video/*"] }, "type"],
  ])("of %o names the field", async (fields, field) => {
    const answer = await caller.post("/uploads/links", fields)
    expect(await readProblem(answer)).toMatchObject({ status: 422, details: [{ field }] })
  })
})
