import { beforeEach, describe, expect, it } from "vitest"
import { toHex } from "../../../../src/platform/crypto/hex.ts"
import { findCallerAccountId } from "../../../support/media/bundle.ts"
import { fetchWorker, makeCaller, uploadTestFile as uploadTo } from "../../../support/caller.ts"
import type { TestCaller, FileRecord } from "../../../support/caller.ts"
import { countAccountData as leftOverOf, NO_ACCOUNT_DATA } from "../../../support/left-over.ts"
import { readProblem } from "../../../support/problem.ts"

type Refusal = { code: number; details: { field: string; message: string }[] }

let caller: TestCaller

beforeEach(async () => {
  caller = await makeCaller(`files ${crypto.randomUUID()}`)
})

async function upload(name: string, content: string | Uint8Array): Promise<FileRecord> {
  return await uploadTo(caller, name, content)
}

async function leftOver() {
  return await leftOverOf(await findCallerAccountId(caller))
}

function multipart(lines: string[], boundary = "b"): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: lines.join("\r\n"),
  }
}

describe("POST /files", () => {
  it("stores the bytes unchanged and answers the File", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(50_000))
    const file = await upload("clip.mp4", bytes)
    expect(file).toMatchObject({
      name: "clip.mp4",
      source: "upload",
      download_url: `https://lathe.test/v1/files/${file.id}/clip.mp4`,
      size_bytes: 50_000,
      content_type: "video/mp4",
      sha256: toHex(await crypto.subtle.digest("SHA-256", bytes)),
    })
    const redirect = await caller.call(`/files/${file.id}/clip.mp4`)
    const media = await fetchWorker(redirect.headers.get("location") ?? "")
    expect(new Uint8Array(await media.arrayBuffer())).toEqual(bytes)
  })

  it("keeps the bytes of a multipart file in order", async () => {
    const bytes = new Uint8Array(20 * 1024 * 1024 + 123)
    for (let at = 0; at < bytes.length; at += 65_536) {
      crypto.getRandomValues(bytes.subarray(at, at + 65_536))
    }
    const file = await upload("big.bin", bytes)
    const redirect = await caller.call(`/files/${file.id}/big.bin`)
    const media = await fetchWorker(redirect.headers.get("location") ?? "")
    const digests = [await media.arrayBuffer(), bytes].map((each) =>
      crypto.subtle.digest("SHA-256", each),
    )
    const [got, sent] = await Promise.all(digests)
    expect(toHex(got ?? new ArrayBuffer())).toBe(toHex(sent ?? new ArrayBuffer(1)))
    expect(file).toMatchObject({ sha256: toHex(sent ?? new ArrayBuffer(1)) })
    expect(await leftOver()).toMatchObject({ uploads: 0, objects: 1 })
  })

  it.each([
    ["a/b/../c.mp4", "c.mp4"],
    ["C:\\films\\d.mp4", "d.mp4"],
    ['say "hi".mp4', 'say "hi".mp4'],
    ["línea\u202e.mp4", "línea.mp4"],
    ["映画 и кино.mp4", "映画 и кино.mp4"],
    ["..", "file"],
  ])("stores the name %j as %j", async (given, name) => {
    const file = await upload(given, "x")
    expect(file.name).toBe(name)
    expect(file.download_url.endsWith(`/${encodeURIComponent(name)}`)).toBe(true)
    const redirect = await caller.call(new URL(file.download_url).pathname.slice(3))
    expect(redirect.status).toBe(302)
    const media = await fetchWorker(redirect.headers.get("location") ?? "")
    expect(media.status).toBe(200)
    expect(media.headers.get("content-disposition")).toMatch(/^attachment; filename/)
  })

  it("sends a non-ASCII name in UTF-8 too", async () => {
    const file = await upload("é 映.txt", "x")
    const redirect = await caller.call(new URL(file.download_url).pathname.slice(3))
    const media = await fetchWorker(redirect.headers.get("location") ?? "")
    const disposition = media.headers.get("content-disposition")
    expect(disposition).toContain("filename*=UTF-8''%C3%A9%20%E6%98%A0.txt")
  })

  const part = 'Content-Disposition: form-data; name="file"; filename="a.mp4"'
  it.each<[string, RequestInit, string]>([
    ["no part at all", multipart(["--b--", ""]), "file"],
    ["two files", multipart(["--b", part, "", "one", "--b", part, "", "two", "--b--", ""]), "file"],
    [
      "a name with a control character",
      multipart(["--b", part.replace("a.mp4", "a\u0007.mp4"), "", "one", "--b--", ""]),
      "file",
    ],
    [
      "a filename* that is not percent-encoded UTF-8",
      multipart(["--b", `${part}; filename*=UTF-8''%E4.mp4`, "", "one", "--b--", ""]),
      "file",
    ],
    [
      "a file and a file_url",
      multipart([
        "--b",
        part,
        "",
        "one",
        "--b",

        'Content-Disposition: form-data; name="file_url"',
        "",
        "https://a.example/x",
        "--b--",
        "",
      ]),
      "file_url",
    ],
    ["an empty file", multipart(["--b", part, "", "", "--b--", ""]), "file"],
    [
      "a field that is none",
      multipart([
        "--b",
        part,
        "",
        "one",
        "--b",
        'Content-Disposition: form-data; name="colour"',
        "",
        "red",
        "--b--",
        "",
      ]),
      "colour",
    ],
    [
      "a priority out of range",
      multipart([
        "--b",
        part,
        "",
        "one",
        "--b",
        'Content-Disposition: form-data; name="priority"',
        "",
        "101",
        "--b--",
        "",
      ]),
      "priority",
    ],
    [
      "metadata that is no JSON",
      multipart([
        "--b",
        part,
        "",
        "one",
        "--b",
        'Content-Disposition: form-data; name="metadata"',
        "",
        "{",
        "--b--",
        "",
      ]),
      "metadata",
    ],
    ["a body that is cut off", multipart(["--b", part, "", "x".repeat(300_000)]), "body"],
    ["a body cut off in its last boundary", multipart(["--b", part, "", "one", "--b"]), "body"],
    [
      "no boundary",
      { method: "POST", headers: { "content-type": "multipart/form-data" }, body: "x" },
      "content-type",
    ],
  ])("refuses %s, names the field and keeps nothing", async (_, init, field) => {
    const answer = await caller.call("/files", init)
    expect(answer.status).toBe(422)
    const refusal = await answer.json<Refusal>()
    expect(refusal.code).toBe(422)
    expect(refusal.details.map((detail) => detail.field)).toEqual([field])
    expect(await leftOver()).toEqual(NO_ACCOUNT_DATA)
  })

  it.each([
    ["announced", (bytes: Uint8Array) => bytes],
    ["found out", (bytes: Uint8Array) => new Blob([bytes]).stream()],
  ])("refuses a file over the limit with 413 and keeps nothing, its size %s", async (_, bodyOf) => {
    const head = new TextEncoder().encode(["--b", part, "", ""].join("\r\n"))
    const bytes = new Uint8Array(head.length + 32 * 1024 * 1024)
    bytes.set(head)
    const answer = await caller.call("/files", {
      ...multipart([]),
      body: bodyOf(bytes),
    })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: "payload_too_large" })
    expect(await leftOver()).toEqual(NO_ACCOUNT_DATA)
  })
})

describe("the files of an account", () => {
  it("are listed newest first, in pages that stay exact while files are added", async () => {
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.unshift((await upload(`${index}.txt`, "x")).id)
    const first = await caller.call("/files?limit=2")
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
    expect(next).not.toContain("key=")
    await upload("late.txt", "x")
    const pages = [first, await caller.call(new URL(next).pathname.slice(3) + new URL(next).search)]
    const listed = (await Promise.all(pages.map((page) => page.json<FileRecord[]>()))).flat()
    expect(listed.map(({ id }) => id)).toEqual(ids.slice(0, 4))
    const skipped = await (await caller.call("/files?limit=2&offset=4")).json<FileRecord[]>()
    expect(skipped.map(({ id }) => id)).toEqual(ids.slice(3))
  })

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["offset=-1", "offset"],
    ["cursor=x", "cursor"],
  ])("are not listed with %s", async (query, field) => {
    const answer = await caller.call(`/files?${query}`)
    expect(answer.status).toBe(422)
    expect((await answer.json<Refusal>()).details[0]?.field).toBe(field)
  })

  it("are hidden from other accounts", async () => {
    const file = await upload("mine.txt", "x")
    const other = await makeCaller("somebody else")
    const unknown = crypto.randomUUID()
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/mine.txt"],
    ]) {
      const answers = await Promise.all(
        [file.id, unknown].map((id) => other.call(`/files/${id}${path}`, method ? { method } : {})),
      )
      const bodies = await Promise.all(answers.map((each) => readProblem(each)))
      expect(bodies[0]).toEqual(bodies[1])
      expect(answers[0]?.status).toBe(404)
    }
    expect((await caller.call(`/files/${file.id}`)).status).toBe(200)
  })

  it("are named in the 404 for another name", async () => {
    const file = await upload("mine.txt", "x")
    const answer = await caller.call(`/files/${file.id}/download`)
    expect(answer.status).toBe(404)
    expect((await readProblem(answer)).message).toContain("the file is called `mine.txt`")
  })

  it("are deleted with their objects, rows and links", async () => {
    const file = await upload("gone.txt", "x")
    const redirect = await caller.call(`/files/${file.id}/gone.txt`)
    const answer = await caller.call(`/files/${file.id}`, { method: "DELETE" })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    expect((await caller.call(`/files/${file.id}`)).status).toBe(404)
    expect((await caller.call(`/files/${file.id}`, { method: "DELETE" })).status).toBe(404)
    expect((await fetchWorker(redirect.headers.get("location") ?? "")).status).toBe(404)
    await expect.poll(leftOver).toEqual(NO_ACCOUNT_DATA)
  })

  it("answer 405 with Allow for other methods", async () => {
    const answer = await caller.call("/files", { method: "PUT" })
    expect(answer.status).toBe(405)
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST")
  })
})
