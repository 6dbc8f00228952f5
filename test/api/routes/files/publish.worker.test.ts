import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller, FileRecord } from "../../../support/caller.ts"
import { readProblem } from "../../../support/problem.ts"

let caller: TestCaller
let name: string

beforeEach(async () => {
  name = `publishes ${crypto.randomUUID()}`
  caller = await makeCaller(name)
})

async function publish(id: string, by = caller): Promise<Response> {
  return await by.call(`/files/${id}/publish`, { method: "POST" })
}

async function publicUrlOf(id: string): Promise<string> {
  const answer = await publish(id)
  expect(answer.status).toBe(200)
  return (await answer.json<{ public_url: string }>()).public_url
}

async function recordOf(id: string): Promise<FileRecord & { public_url?: string }> {
  return await (await caller.call(`/files/${id}`)).json()
}

describe("POST /files/{id}/publish", () => {
  it("answers a URL that needs no key and contains only the id, the same each time", async () => {
    const file = await uploadTestFile(caller, "é 1.txt", "0123456789")
    expect(await recordOf(file.id)).not.toHaveProperty("public_url")
    const url = await publicUrlOf(file.id)
    expect(url).toBe(`https://lathe.test/public/1/${file.id}/%C3%A9%201.txt`)
    expect(await publicUrlOf(file.id)).toBe(url)
    expect((await recordOf(file.id)).public_url).toBe(url)
    const answer = await fetchWorker(url)
    expect([answer.status, await answer.text()]).toEqual([200, "0123456789"])
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60")
    expect(answer.headers.get("content-disposition")).toMatch(/^inline/)
    const saved = await fetchWorker(`${url}?disposition=attachment`)
    expect(saved.headers.get("content-disposition")).toMatch(/^attachment/)
    await saved.body?.cancel()
  })

  it.each([
    ['{"expires_in": 60}', "expires_in: unknown field"],
    ["[1]", "body: expected no body, or an empty object; it is a list"],
    ["{", "body: expected JSON; line 1, column 2"],
    ["a=1", "body: expected JSON, but the body is a form"],
  ])("refuses the body %s, which it would not read", async (body, words) => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const answer = await caller.call(`/files/${file.id}/publish`, { method: "POST", body })
    expect(answer.status).toBe(422)
    expect((await readProblem(answer)).message).toContain(words)
    expect(await recordOf(file.id)).not.toHaveProperty("public_url")
  })

  it.each(["", " ", "{}"])("accepts the body %j as no body", async (body) => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const answer = await caller.call(`/files/${file.id}/publish`, { method: "POST", body })
    expect(answer.status).toBe(200)
  })

  it("answers a URL that supports HEAD, ranges and conditions, and no other method", async () => {
    const file = await uploadTestFile(caller, "ten.txt", "0123456789")
    const url = await publicUrlOf(file.id)
    const head = await fetchWorker(url, { method: "HEAD" })
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      "10",
      "",
    ])
    const part = await fetchWorker(url, { headers: { range: "bytes=2-4" } })
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
      206,
      "bytes 2-4/10",
      "234",
    ])
    const etag = head.headers.get("etag") ?? ""
    expect((await fetchWorker(url, { headers: { "if-none-match": etag } })).status).toBe(304)
    const refused = await fetchWorker(url, { method: "DELETE" })
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"])
  })

  it("never lets browsers run an uploaded file", async () => {
    const page = await uploadTestFile(caller, "page.html", "<script>alert(1)</script>")
    const { headers, body } = await fetchWorker(await publicUrlOf(page.id))
    expect(headers.get("content-disposition")).toMatch(/^attachment/)
    expect(headers.get("content-security-policy")).toContain("sandbox")
    await body?.cancel()
  })

  it("asks to wait for a file that is still imported", async () => {
    const created = await caller.post("/files", { file_url: "https://a.example/clip.mp4" })
    const { id } = await created.json<FileRecord>()
    expect(await readProblem(await publish(id))).toMatchObject({ code_name: "not_final" })
  })

  it("answers 404 for another account's file and an unknown file", async () => {
    const file = await uploadTestFile(caller, "mine.txt", "x")
    const stranger = await makeCaller(`stranger ${crypto.randomUUID()}`)
    for (const method of ["POST", "DELETE"]) {
      for (const id of [file.id, crypto.randomUUID(), "no-uuid"]) {
        expect((await stranger.call(`/files/${id}/publish`, { method })).status).toBe(404)
      }
    }
    expect(await recordOf(file.id)).not.toHaveProperty("public_url")
  })
})

describe("a public URL", () => {
  it("does not exist for a file that was never published, nor for other names", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    expect((await fetchWorker(`/public/1/${file.id}/a.txt`)).status).toBe(404)
    await publicUrlOf(file.id)
    expect((await fetchWorker(`/public/1/${file.id}/b.txt`)).status).toBe(404)
    expect((await fetchWorker(`/public/1/nonsense/a.txt`)).status).toBe(404)
  })

  it("ends when it is unpublished, which may be repeated", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const url = await publicUrlOf(file.id)
    for (const _ of [1, 2]) {
      const answer = await caller.call(`/files/${file.id}/publish`, { method: "DELETE" })
      expect([answer.status, await answer.json()]).toEqual([200, {}])
      expect((await fetchWorker(url)).status).toBe(404)
    }
    expect(await recordOf(file.id)).not.toHaveProperty("public_url")
    expect(await publicUrlOf(file.id)).toBe(url)
    expect((await fetchWorker(url)).status).toBe(200)
  })

  it("ends with its file", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const url = await publicUrlOf(file.id)
    await caller.call(`/files/${file.id}`, { method: "DELETE" })
    expect((await fetchWorker(url)).status).toBe(404)
  })

  it("is unavailable while its account is suspended, and ends when it is deleted", async () => {
    const file = await uploadTestFile(caller, "a.txt", "x")
    const url = await publicUrlOf(file.id)
    const id = await findCallerAccountId(caller)
    const columns = [
      ["suspended_at = 1", 404],
      ["suspended_at = null", 200],
      ["deleted_at = 1", 404],
    ] as const
    for (const [set, status] of columns) {
      await env.DB.prepare(`update accounts set ${set} where id = ?`).bind(id).run()
      const answer = await fetchWorker(url)
      expect([set, answer.status]).toEqual([set, status])
      await answer.body?.cancel()
    }
  })
})

it("a file with the name of an operation can be downloaded", async () => {
  const file = await uploadTestFile(caller, "publish", "x")
  const answer = await caller.call(`/files/${file.id}/publish`)
  expect(answer.status).toBe(302)
  expect(answer.headers.get("location")).toMatch(/\/media\/.*\/publish$/)
  const refused = await caller.call(`/files/${file.id}/publish`, { method: "PUT" })
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "DELETE, POST"])
  const other = await uploadTestFile(caller, "another", "x")
  const none = await caller.call(`/files/${other.id}/publish`)
  expect([none.status, none.headers.get("allow")]).toEqual([405, "DELETE, POST"])
})
