import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { ensureSite } from "../../../scripts/site/ensure.ts"
import { VIEWER, listPages } from "../../support/site-pages.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const PAGE_BYTES_MAX = 100_000

let service: TestService

beforeAll(async () => {
  await ensureSite()
  service = await startService()
})

afterAll(async () => await service[Symbol.asyncDispose]())

async function get(path: string): Promise<Response> {
  return await fetch(`${service.origin}${path}`, { redirect: "manual" })
}

const linked = new Map<string, { ids: Set<string>; status: number }>()

/** Returns the status of an address, and the anchors of its page. */
async function visit(path: string): Promise<{ ids: Set<string>; status: number }> {
  const known = linked.get(path)
  if (known) return known
  const answer = await get(path)
  const text = await answer.text()
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id))
  const seen = { ids, status: answer.status }
  linked.set(path, seen)
  return seen
}

describe("the documentation of a service", () => {
  it("has no link to a page or heading that is missing", async () => {
    const pages = listPages()
    expect(pages.length).toBeGreaterThan(100)
    const broken: string[] = []
    for (const page of pages) {
      const html = await (await get(page)).text()
      const targets = [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = ""]) => link)
      for (const target of new Set(targets)) {
        if (/^https?:/.test(target)) continue
        const [path = "", anchor] = target.split("#")
        const address = path === "" ? page : path
        // The dashboard redirects visitors to its sign-in page.
        if (address === "/") continue
        const { ids, status } = await visit(address)
        const isThere = status === 200 && (anchor === undefined || ids.has(anchor))
        if (!isThere) broken.push(`${page} links to ${target}: ${status}`)
      }
    }
    expect(broken).toEqual([])
  })

  it("has pages of at most 100 KB, with style sheet and scripts", async () => {
    const large: string[] = []
    for (const page of listPages()) {
      if (page === VIEWER) continue
      const html = await (await get(page)).text()
      const loaded = [
        ...html.matchAll(/<(?:script|link rel="stylesheet")[^>]* (?:src|href)="([^"]+)"/g),
      ]
      let bytes = Buffer.byteLength(html)
      for (const [, path = ""] of loaded)
        bytes += (await (await get(path)).arrayBuffer()).byteLength
      if (bytes > PAGE_BYTES_MAX) large.push(`${page}: ${bytes} bytes`)
    }
    expect(large).toEqual([])
  })

  it("loads nothing from another origin", async () => {
    for (const page of listPages()) {
      const html = await (await get(page)).text()
      const loaded = [
        ...html.matchAll(/<(?:script|img|link|iframe|source)[^>]* (?:src|href)="([^"]+)"/g),
      ]
      for (const [, path = ""] of loaded) expect([page, path[0]]).toEqual([page, "/"])
      expect([page, /<script(?![^>]* src=)|<style| style="| on\w+="/.test(html)]).toEqual([
        page,
        false,
      ])
    }
  })

  it("has a Markdown twin of every page, and a list of them", async () => {
    const list = await (await get("/docs/llms.txt")).text()
    for (const page of listPages()) {
      if (page === VIEWER) continue
      const twin = page === "/docs" ? "/docs/index.md" : `${page.replace(/\/$/, "/index")}.md`
      const answer = await get(twin)
      expect([twin, answer.status]).toEqual([twin, 200])
      expect(await answer.text()).toMatch(/^# /)
      const isListed = list.includes(`(${twin})`)
      expect([twin, isListed]).toEqual([twin, !/^\/docs\/errors\/./.test(page)])
    }
  })

  it("is the target of the type of an error", async () => {
    const answer = await get("/v1/nowhere")
    const { type } = z.object({ type: z.string() }).parse(await answer.json())
    expect((await get(type)).status).toBe(200)
  })
})
