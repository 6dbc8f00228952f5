import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { makeDownloadToken } from "../../../../src/objects/download-links.ts"
import { fetchWorker, makeCaller, uploadTestFile as uploadTo } from "../../../support/caller.ts"
import type { TestCaller, FileRecord } from "../../../support/caller.ts"

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("links")
})

async function upload(name: string, content: string): Promise<FileRecord> {
  return await uploadTo(caller, name, content)
}

describe("a download link", () => {
  async function link(query = ""): Promise<string> {
    const file = await upload("ten.txt", "0123456789")
    const redirect = await caller.call(`/files/${file.id}/ten.txt${query}`)
    expect(redirect.status).toBe(302)
    return redirect.headers.get("location") ?? ""
  }

  it("does not contain the key", async () => {
    const file = await upload("ten.txt", "0123456789")
    const redirect = await fetchWorker(`/v1/files/${file.id}/ten.txt?key=${caller.key}`)
    expect(redirect.status).toBe(302)
    expect(JSON.stringify([...redirect.headers])).not.toContain(caller.key.slice(0, 20))
  })

  it.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["bytes=5-100", 206, "56789", "bytes 5-9/10"],
    ["bytes=-100", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=9-2", 200, "0123456789", null],
    ["bytes=0-1,4-5", 200, "0123456789", null],
    ["pages=1-2", 200, "0123456789", null],
  ])("answers the range %s with %i", async (range, status, text, contentRange) => {
    const media = await fetchWorker(await link(), { headers: { range } })
    expect([media.status, await media.text()]).toEqual([status, text])
    expect(media.headers.get("content-range")).toBe(contentRange)
    expect(media.headers.get("content-length")).toBe(String(text.length))
    expect(media.headers.get("accept-ranges")).toBe("bytes")
  })

  it("refuses a range beyond the end", async () => {
    const media = await fetchWorker(await link(), { headers: { range: "bytes=10-" } })
    expect(media.status).toBe(416)
    expect(media.headers.get("content-range")).toBe("bytes */10")
  })

  it("gets a 412 for a condition that does not hold", async () => {
    const media = await fetchWorker(await link(), { headers: { "if-match": '"another"' } })
    expect([media.status, (await media.json<{ code: string }>()).code]).toEqual([
      412,
      "precondition_failed",
    ])
  })

  it("answers HEAD without a body", async () => {
    const media = await fetchWorker(await link(), { method: "HEAD" })
    expect([media.status, await media.text()]).toEqual([200, ""])
    expect(media.headers.get("content-type")).toBe("text/plain")
    expect(media.headers.get("x-content-type-options")).toBe("nosniff")
  })

  it("answers 304 for a known ETag, and a range only of the same version", async () => {
    const place = await link()
    const etag = (await fetchWorker(place, { method: "HEAD" })).headers.get("etag") ?? ""
    const unchanged = await fetchWorker(place, { headers: { "if-none-match": etag } })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""])
    for (const [version, status] of [
      [etag, 206],
      ['"another"', 200],
    ] as const) {
      const headers = { range: "bytes=0-1", "if-range": version }
      const media = await fetchWorker(place, { headers })
      expect(media.status).toBe(status)
      await media.body?.cancel()
    }
  })

  it("gets a 403 if any of its characters is changed", async () => {
    const place = new URL(await link())
    const [, , token = "", name = ""] = place.pathname.split("/")
    for (const at of [0, 40, 75, 85, token.length - 20, token.length - 1]) {
      const changed = token.slice(0, at) + (token[at] === "0" ? "1" : "0") + token.slice(at + 1)
      expect([at, (await fetchWorker(`/media/${changed}/${name}`)).status]).toEqual([at, 403])
    }
    expect((await fetchWorker(`/media/nonsense/${name}`)).status).toBe(403)
  })

  it("gets a 410 after its expiry", async () => {
    const file = { objectKey: "o", nameHash: "n", contentType: "t", sizeBytes: 1 }
    const late = await makeDownloadToken(env.LATHE_SECRET ?? "", {
      opens: { ...file, kind: "file" },
      expiresAt: Date.now() - 1,
      disposition: "attachment",
    })
    expect((await fetchWorker(`/media/${late}/ten.txt`)).status).toBe(410)
  })

  it("shows media in the browser if requested, and never a page", async () => {
    const media = await fetchWorker(await link("?disposition=inline"))
    expect(media.headers.get("content-disposition")).toMatch(/^inline/)
    await media.body?.cancel()
    const page = await upload("page.html", "<script>alert(1)</script>")
    const redirect = await caller.call(`/files/${page.id}/page.html?disposition=inline`)
    const shown = await fetchWorker(redirect.headers.get("location") ?? "")
    expect(shown.headers.get("content-disposition")).toMatch(/^attachment/)
    await shown.body?.cancel()
  })

  it.each(["code.js", "code.mjs", "code.es", "code.css"])(
    "is never a script or a style for this origin's pages (%s)",
    async (name) => {
      const file = await upload(name, "alert(1)")
      const redirect = await caller.call(`/files/${file.id}/${name}`)
      const { headers, body } = await fetchWorker(redirect.headers.get("location") ?? "")
      expect(headers.get("content-type")).toBe("application/octet-stream")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      await body?.cancel()
    },
  )
})
