import { env } from "cloudflare:workers"
import { beforeEach, describe, expect, it } from "vitest"
import { makeLinkToken } from "../../src/storage/links.ts"
import { ask, makeCaller } from "../support/caller.ts"
import type { Caller } from "../support/caller.ts"

type FileRecord = { id: string; name: string; status: string; download_url: string }
type Refusal = { code: number; details: { field: string; message: string }[] }

let caller: Caller

beforeEach(async () => {
  caller = await makeCaller(`files ${crypto.randomUUID()}`)
})

function form(name: string, content: string | Uint8Array, field = "file"): FormData {
  const body = new FormData()
  body.append(field, new File([content], name))
  return body
}

async function upload(name: string, content: string | Uint8Array): Promise<FileRecord> {
  const answer = await caller.call("/files", { method: "POST", body: form(name, content) })
  if (answer.status !== 201) throw new Error(await answer.text())
  return await answer.json<FileRecord>()
}

/** What is kept of the caller's account, in rows and objects. */
async function leftOver() {
  const { results } = await env.DB.prepare("select id from accounts order by id desc limit 1").all()
  const accountId = String(results[0]?.["id"])
  const count = async (table: string) =>
    await env.DB.prepare(`select count(*) as n from ${table} where account_id = ?`)
      .bind(accountId)
      .first<number>("n")
  const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` })
  return {
    files: await count("files"),
    uploads: await count("uploads"),
    jobs: await count("jobs"),
    objects: objects.length,
  }
}

const NOTHING = { files: 0, uploads: 0, jobs: 0, objects: 0 }

function multipart(lines: string[], boundary = "b"): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: lines.join("\r\n"),
  }
}

describe("POST /files", () => {
  it("stores the bytes as they came and answers the File", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(50_000))
    const file = await upload("clip.mp4", bytes)
    expect(file).toMatchObject({
      name: "clip.mp4",
      source: "upload",
      download_url: `https://lathe.test/v1/files/${file.id}/clip.mp4`,
      size_bytes: 50_000,
      content_type: "video/mp4",
    })
    const redirect = await caller.call(`/files/${file.id}/clip.mp4`)
    const media = await ask(redirect.headers.get("location") ?? "")
    expect(new Uint8Array(await media.arrayBuffer())).toEqual(bytes)
  })

  it("keeps the bytes of a file of many parts in their order", async () => {
    const bytes = new Uint8Array(20 * 1024 * 1024 + 123)
    for (let at = 0; at < bytes.length; at += 65_536) {
      crypto.getRandomValues(bytes.subarray(at, at + 65_536))
    }
    const file = await upload("big.bin", bytes)
    const redirect = await caller.call(`/files/${file.id}/big.bin`)
    const media = await ask(redirect.headers.get("location") ?? "")
    const digests = [await media.arrayBuffer(), bytes].map((each) =>
      crypto.subtle.digest("SHA-256", each),
    )
    const [got, sent] = await Promise.all(digests)
    expect(new Uint8Array(got ?? new ArrayBuffer())).toEqual(
      new Uint8Array(sent ?? new ArrayBuffer(1)),
    )
    expect(await leftOver()).toMatchObject({ uploads: 0, objects: 1 })
  })

  it.each([
    ["a/b/../c.mp4", "c.mp4"],
    ["C:\\films\\d.mp4", "d.mp4"],
    ['say "hi".mp4', 'say "hi".mp4'],
    ["línea\u202e.mp4", "línea.mp4"],
    ["映画 и кино.mp4", "映画 и кино.mp4"],
    ["..", "file"],
  ])("makes of the name %j the name %j", async (given, name) => {
    const file = await upload(given, "x")
    expect(file.name).toBe(name)
    expect(file.download_url.endsWith(`/${encodeURIComponent(name)}`)).toBe(true)
    const redirect = await caller.call(new URL(file.download_url).pathname.slice(3))
    expect(redirect.status).toBe(302)
    const media = await ask(redirect.headers.get("location") ?? "")
    expect(media.status).toBe(200)
    expect(media.headers.get("content-disposition")).toMatch(/^attachment; filename/)
  })

  it("gives a name that is not ASCII in UTF-8 too", async () => {
    const file = await upload("é 映.txt", "x")
    const redirect = await caller.call(new URL(file.download_url).pathname.slice(3))
    const media = await ask(redirect.headers.get("location") ?? "")
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
      "a file and a file_url",
      multipart([
        ...["--b", part, "", "one", "--b"],
        ...[
          'Content-Disposition: form-data; name="file_url"',
          "",
          "https://a.example/x",
          "--b--",
          "",
        ],
      ]),
      "file_url",
    ],
    ["an empty file", multipart(["--b", part, "", "", "--b--", ""]), "file"],
    [
      "a field that is none",
      multipart([
        ...["--b", part, "", "one", "--b"],
        ...['Content-Disposition: form-data; name="colour"', "", "red", "--b--", ""],
      ]),
      "colour",
    ],
    [
      "a priority out of range",
      multipart([
        ...["--b", part, "", "one", "--b"],
        ...['Content-Disposition: form-data; name="priority"', "", "101", "--b--", ""],
      ]),
      "priority",
    ],
    [
      "metadata that is no JSON",
      multipart([
        ...["--b", part, "", "one", "--b"],
        ...['Content-Disposition: form-data; name="metadata"', "", "{", "--b--", ""],
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
    [
      "only a file_url",
      multipart([
        "--b",
        'Content-Disposition: form-data; name="file_url"',
        "",
        "https://a.example/x",
        "--b--",
        "",
      ]),
      "file_url",
    ],
  ])("refuses %s, names the field and keeps nothing", async (_, init, field) => {
    const answer = await caller.call("/files", init)
    expect(answer.status).toBe(422)
    const refusal = await answer.json<Refusal>()
    expect(refusal.code).toBe(422)
    expect(refusal.details.map((detail) => detail.field)).toEqual([field])
    expect(await leftOver()).toEqual(NOTHING)
  })

  it("says that imports are not built yet", async () => {
    const body = new FormData()
    body.append("file_url", "https://a.example/x.mp4")
    const answer = await caller.call("/files", { method: "POST", body })
    expect(answer.status).toBe(422)
    expect(JSON.stringify(await answer.json())).toContain("imports are not built yet")
  })

  it("wants multipart/form-data", async () => {
    expect((await caller.post("/files", { file_url: "https://a.example" })).status).toBe(415)
  })
})

describe("the files of an account", () => {
  it("are listed newest first, a page at a time, exactly while others are added", async () => {
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
  ])("are not listed by %s", async (query, field) => {
    const answer = await caller.call(`/files?${query}`)
    expect(answer.status).toBe(422)
    expect((await answer.json<Refusal>()).details[0]?.field).toBe(field)
  })

  it("are nobody else's", async () => {
    const file = await upload("mine.txt", "x")
    const other = await makeCaller("somebody else")
    const unknown = crypto.randomUUID()
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/mine.txt"],
    ]) {
      const answers = await Promise.all(
        [file.id, unknown, "no-uuid"].map((id) =>
          other.call(`/files/${id}${path}`, method ? { method } : {}),
        ),
      )
      const told = await Promise.all(answers.map(async (each) => [each.status, await each.text()]))
      expect(told[0]).toEqual(told[1])
      expect(told[0]).toEqual(told[2])
      expect(answers[0]?.status).toBe(404)
    }
    expect((await caller.call(`/files/${file.id}`)).status).toBe(200)
  })

  it("go with their objects, rows and links when they are deleted", async () => {
    const file = await upload("gone.txt", "x")
    const redirect = await caller.call(`/files/${file.id}/gone.txt`)
    const answer = await caller.call(`/files/${file.id}`, { method: "DELETE" })
    expect([answer.status, await answer.json()]).toEqual([200, {}])
    expect((await caller.call(`/files/${file.id}`)).status).toBe(404)
    expect((await caller.call(`/files/${file.id}`, { method: "DELETE" })).status).toBe(404)
    expect((await ask(redirect.headers.get("location") ?? "")).status).toBe(404)
    await expect.poll(leftOver).toEqual(NOTHING)
  })

  it("answer 405 with Allow for a method that is not theirs", async () => {
    const answer = await caller.call("/files", { method: "PUT" })
    expect(answer.status).toBe(405)
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST")
  })
})

describe("a download link", () => {
  async function link(query = ""): Promise<string> {
    const file = await upload("ten.txt", "0123456789")
    const redirect = await caller.call(`/files/${file.id}/ten.txt${query}`)
    expect(redirect.status).toBe(302)
    return redirect.headers.get("location") ?? ""
  }

  it("does not carry the key", async () => {
    const file = await upload("ten.txt", "0123456789")
    const redirect = await ask(`/v1/files/${file.id}/ten.txt?key=${caller.key}`)
    expect(redirect.status).toBe(302)
    expect(JSON.stringify([...redirect.headers])).not.toContain(caller.key.slice(0, 20))
  })

  it.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["bytes=5-100", 206, "56789", "bytes 5-9/10"],
    ["bytes=0-1,4-5", 200, "0123456789", null],
    ["pages=1-2", 200, "0123456789", null],
  ])("sends for the range %s with %i", async (range, status, text, contentRange) => {
    const media = await ask(await link(), { headers: { range } })
    expect([media.status, await media.text()]).toEqual([status, text])
    expect(media.headers.get("content-range")).toBe(contentRange)
    expect(media.headers.get("content-length")).toBe(String(text.length))
    expect(media.headers.get("accept-ranges")).toBe("bytes")
  })

  it("refuses a range beyond the end", async () => {
    const media = await ask(await link(), { headers: { range: "bytes=10-" } })
    expect(media.status).toBe(416)
    expect(media.headers.get("content-range")).toBe("bytes */10")
  })

  it("answers HEAD without a body", async () => {
    const media = await ask(await link(), { method: "HEAD" })
    expect([media.status, await media.text()]).toEqual([200, ""])
    expect(media.headers.get("content-type")).toBe("text/plain")
    expect(media.headers.get("x-content-type-options")).toBe("nosniff")
  })

  it("answers 304 for what the caller has, and a range only of the same version", async () => {
    const place = await link()
    const etag = (await ask(place, { method: "HEAD" })).headers.get("etag") ?? ""
    const unchanged = await ask(place, { headers: { "if-none-match": etag } })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""])
    for (const [version, status] of [
      [etag, 206],
      ['"another"', 200],
    ] as const) {
      const headers = { range: "bytes=0-1", "if-range": version }
      const media = await ask(place, { headers })
      expect(media.status).toBe(status)
      await media.body?.cancel()
    }
  })

  it("is refused with 403 wherever a character of it was changed", async () => {
    const place = new URL(await link())
    const [, , token = "", name = ""] = place.pathname.split("/")
    for (const at of [0, 40, 75, 85, token.length - 20, token.length - 1]) {
      const changed = token.slice(0, at) + (token[at] === "0" ? "1" : "0") + token.slice(at + 1)
      expect([at, (await ask(`/media/${changed}/${name}`)).status]).toEqual([at, 403])
    }
    expect((await ask(`/media/nonsense/${name}`)).status).toBe(403)
  })

  it("is gone with 410 after its time", async () => {
    const { pathname } = new URL(await link())
    const [, , token = ""] = pathname.split("/")
    const [accountId = "", fileId = ""] = token.split(".")
    const expiresAt = Date.now() - 1
    const late = await makeLinkToken(env.LATHE_SECRET ?? "", {
      ...{ accountId, fileId, expiresAt },
      disposition: "attachment",
    })
    expect((await ask(`/media/${late}/ten.txt`)).status).toBe(410)
  })

  it("shows media in the browser where that is asked for, and never a page", async () => {
    const media = await ask(await link("?disposition=inline"))
    expect(media.headers.get("content-disposition")).toMatch(/^inline/)
    await media.body?.cancel()
    const page = await upload("page.html", "<script>alert(1)</script>")
    const redirect = await caller.call(`/files/${page.id}/page.html?disposition=inline`)
    const shown = await ask(redirect.headers.get("location") ?? "")
    expect(shown.headers.get("content-disposition")).toMatch(/^attachment/)
    await shown.body?.cancel()
  })
})
