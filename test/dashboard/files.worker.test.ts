import { beforeAll, describe, expect, it } from "vitest"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"
import type { SignedInCaller } from "../support/accounts/signed-in.ts"

const ORIGIN = "https://lathe.test"
const HOSTILE = `<script>alert(1)<b> "'&amp; .txt`

let user: SignedInCaller

beforeAll(async () => {
  user = await makeSignedInUser()
})

describe("the page of files", () => {
  it("explains the first upload if there are no files, and has a form that works without scripts", async () => {
    const html = await textOf("/files")
    expect(html).toContain("No files yet")
    expect(html).toContain('action="/files" enctype="multipart/form-data"')
    expect(html).toMatch(/data-bytes-max="\d+"/)
  })

  it("forwards an upload as a stream, and redirects to the page of the file", async () => {
    const answer = await upload(new File(["some text"], HOSTILE))
    expect(answer.status).toBe(303)
    const path = answer.headers.get("location") ?? ""
    const html = await textOf(path)
    expect(html).toContain("9 B (9 bytes)")
    expect(html).toContain(`svc_id://${path.replace("/files/", "")}`)
    expect(html).not.toContain("<script>alert")
    expect(html).not.toContain("<b>")
    expect(await textOf("/files")).toContain(path)
  })

  it("publishes and unpublishes a file, and shows its URL and its digest", async () => {
    const answer = await upload(new File(["abc"], "open.txt"))
    const path = answer.headers.get("location") ?? ""
    const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    expect(await textOf(path)).toContain(digest)
    const address = `${ORIGIN}/public/1${path.replace("/files", "")}/open.txt`
    expect(await textOf(path)).not.toContain(address)
    const published = await user.submit(`${path}/publish`, {})
    expect([published.status, published.headers.get("location")]).toEqual([303, path])
    expect(await textOf(path)).toContain(`href="${address}"`)
    expect((await user.submit(`${path}/unpublish`, {})).status).toBe(303)
    expect(await textOf(path)).not.toContain(address)
  })

  it("shows beside the field the reason for a refused upload", async () => {
    const answer = await upload(new File([], "empty.txt"))
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain("file: the file is empty")
  })

  it("keeps a URL that cannot be imported, and shows the reason", async () => {
    const answer = await user.submit("/files/import", { file_url: "ftp://example.com/<a>.mp4" })
    expect(answer.status).toBe(422)
    const html = await answer.text()
    expect(html).toContain('value="ftp://example.com/&lt;a&gt;.mp4"')
    expect(html).toContain('id="field-file_url-error"')
  })

  it("imports a URL", async () => {
    const answer = await user.submit("/files/import", { file_url: " https://example.com/a.mp4 " })
    expect(answer.status).toBe(303)
    const html = await textOf(answer.headers.get("location") ?? "")
    expect(html).toContain("https://example.com/a.mp4")
    expect(html).toContain("data-poll")
  })

  it("filters, and says if no file matches", async () => {
    expect(await textOf("/files?source=import")).toContain("a.mp4")
    const html = await textOf("/files?source=output&status=")
    expect(html).toContain("No file matches the filter")
    const wrong = await user.visit("/files?source=elsewhere")
    expect(wrong.status).toBe(422)
  })

  it("links to the next page", async () => {
    const many = await makeSignedInUser()
    for (let number = 0; number < 21; number += 1) {
      await many.submit("/files/import", { file_url: `https://example.com/${number}.mp4` })
    }
    const first = await (await many.visit("/files?source=import")).text()
    const next = /href="(\/files\?source=import&amp;cursor=[^"]+)"/.exec(first)?.[1] ?? ""
    const second = await (await many.visit(next.replaceAll("&amp;", "&"))).text()
    expect(linksOf(first)).toHaveLength(20)
    expect(linksOf(second)).toHaveLength(1)
    expect(second).not.toContain('rel="next"')
  })

  it("deletes a file", async () => {
    const path = (await upload(new File(["x"], "gone.txt"))).headers.get("location") ?? ""
    const answer = await user.submit(`${path}/delete`)
    expect(answer.headers.get("location")).toBe("/files")
    expect((await user.visit(path)).status).toBe(404)
  })

  it("hides other accounts' files", async () => {
    const path = (await upload(new File(["x"], "mine.txt"))).headers.get("location") ?? ""
    const other = await makeSignedInUser()
    expect((await other.visit(path)).status).toBe(404)
    expect((await other.submit(`${path}/delete`)).status).toBe(404)
    expect((await user.visit(path)).status).toBe(200)
  })

  it("refuses a form of another origin", async () => {
    const body = new FormData()
    body.append("file", new File(["x"], "x.txt"))
    const headers = { origin: "https://elsewhere.test" }
    const answer = await user.visit("/files", { method: "POST", headers, body })
    expect(answer.status).toBe(403)
  })
})

async function upload(file: File): Promise<Response> {
  const body = new FormData()
  body.append("file", file)
  return await user.visit("/files", { method: "POST", headers: { origin: ORIGIN }, body })
}

async function textOf(path: string): Promise<string> {
  const answer = await user.visit(path)
  expect(answer.status).toBe(200)
  return await answer.text()
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/href="(\/files\/[0-9a-f-]{36})"/g)].map(([, path = ""]) => path)
}
