import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, it } from "vitest"
import { app } from "../../../../src/app.ts"
import { makeCaller, uploadTestFile } from "../../../support/caller.ts"
import type { TestCaller } from "../../../support/caller.ts"

const SECONDS = 60

let caller: TestCaller

beforeAll(async () => {
  caller = await makeCaller("cached objects")
})

/** Uploads a file. Returns its id and a link to it. */
async function makeLink(name: string): Promise<{ id: string; link: string }> {
  const { id } = await uploadTestFile(caller, name, "0123456789")
  const redirect = await caller.call(`/files/${id}/${name}`)
  return { id, link: redirect.headers.get("location") ?? "" }
}

/**
 * Opens a link on a service with a cache, here Miniflare's, and waits until the service has done
 * what it does behind the answer. Also returns the reads of R2.
 */
async function open(link: string, init: RequestInit = {}, seconds = SECONDS) {
  const reads: string[] = []
  const MEDIA = new Proxy(env.MEDIA, {
    get(bucket, name) {
      const method: unknown = Reflect.get(bucket, name)
      if (typeof method !== "function") return method
      return (...given: unknown[]): unknown => {
        reads.push(String(name))
        return Reflect.apply(method, bucket, given)
      }
    },
  })
  const context = createExecutionContext()
  const bindings = { ...env, MEDIA, OBJECT_CACHE_SECONDS: String(seconds) }
  const answer = await app.fetch(new Request(link, init), bindings, context)
  const text = await answer.text()
  await waitOnExecutionContext(context)
  return { status: answer.status, headers: answer.headers, text, reads }
}

describe("an object that a link has opened", () => {
  it("is answered from the cache by the same headers, to every link", async () => {
    const { id, link } = await makeLink("whole.txt")
    const first = await open(link)
    expect([first.text, first.reads]).toEqual(["0123456789", ["get", "get"]])
    const other = (await caller.call(`/files/${id}/whole.txt?disposition=inline`)).headers
    for (const again of [link, other.get("location") ?? ""]) {
      const second = await open(again)
      expect([second.status, second.text, second.reads]).toEqual([200, "0123456789", []])
      for (const name of ["content-type", "content-length", "etag", "last-modified"]) {
        expect([name, second.headers.get(name)]).toEqual([name, first.headers.get(name)])
      }
      expect(second.headers.get("cache-control")).toMatch(/^private, max-age=\d+, immutable$/)
    }
    expect((await open(link)).headers.get("content-disposition")).toContain("whole.txt")
  })

  it("has its ranges and conditions answered from the cache", async () => {
    const { link } = await makeLink("parts.txt")
    const { headers } = await open(link)
    const part = await open(link, { headers: { range: "bytes=2-4" } })
    expect([part.status, part.text, part.reads]).toEqual([206, "234", []])
    expect(part.headers.get("content-range")).toBe("bytes 2-4/10")
    expect(part.headers.get("content-length")).toBe("3")
    const beyond = await open(link, { headers: { range: "bytes=10-" } })
    expect([beyond.status, beyond.reads]).toEqual([416, []])
    const known = await open(link, { headers: { "if-none-match": headers.get("etag") ?? "" } })
    expect([known.status, known.reads]).toEqual([304, []])
    const wrong = await open(link, { headers: { "if-match": '"another"' } })
    expect([wrong.status, wrong.reads]).toEqual([412, []])
    const head = await open(link, { method: "HEAD" })
    expect([head.status, head.headers.get("content-length"), head.reads]).toEqual([200, "10", []])
  })

  it("is not kept for a range, and then read from R2 again", async () => {
    const { link } = await makeLink("range.txt")
    for (let time = 0; time < 2; time += 1) {
      const part = await open(link, { headers: { range: "bytes=0-1" } })
      expect([part.text, part.reads]).toEqual(["01", ["get"]])
    }
  })

  it("is not kept without the setting, or on workers.dev, which has no cache", async () => {
    const { link } = await makeLink("never.txt")
    const onWorkersDev = link.replace("lathe.test", "lathe.example.workers.dev")
    for (let time = 0; time < 2; time += 1) {
      expect((await open(link, {}, 0)).reads).toEqual(["get"])
      expect((await open(onWorkersDev)).reads).toEqual(["get"])
    }
  })

  it("opens to no other link, name or signature", async () => {
    const { link } = await makeLink("mine.txt")
    await open(link)
    expect((await open(link.replace(/mine\.txt$/, "other.txt"))).status).toBe(404)
    expect((await open(link.replace(/\/mine\.txt$/, "x/mine.txt"))).status).toBe(403)
    const { origin } = new URL(link)
    expect((await open(`${origin}/objects/anything`)).status).toBe(404)
  })

  it("is gone after its time", async () => {
    const { link } = await makeLink("brief.txt")
    await open(link, {}, 1)
    await expect.poll(async () => (await open(link, {}, 1)).reads.length).toBeGreaterThan(0)
  })
})
