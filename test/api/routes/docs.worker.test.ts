import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, it, test } from "vitest"
import { app } from "../../../src/app.ts"
import { readProblem } from "../../support/problem.ts"

/** Files of a site, by their paths. */
const SITE: Record<string, string> = {
  "/docs/index.html": "home",
  "/docs/index.md": "# home",
  "/docs/guide/commands.html": "commands",
  "/docs/errors/index.html": "errors",
  "/docs/errors/not_found.html": "not found",
  "/docs/errors/unprocessable.html": "unprocessable",
  "/docs/reference/viewer.html": "viewer",
  "/docs/assets/site.0123456789.css": "css",
  "/docs/llms.txt": "llms",
}

const CHANGED_AT = "Fri, 27 Nov 2026 18:31:39 GMT"

async function ask(path: string, site = SITE, init: RequestInit = {}): Promise<Response> {
  const ASSETS = {
    async fetch(input: RequestInfo | URL, { headers }: RequestInit = {}) {
      const text = site[new URL(input instanceof Request ? input.url : input).pathname]
      if (text === undefined) return new Response("nothing", { status: 404 })
      if (new Headers(headers).get("if-none-match") === '"1"') {
        return new Response(null, { status: 304, headers: { etag: '"1"' } })
      }
      const headersOfFile = { etag: '"1"', "last-modified": CHANGED_AT }
      return new Response(text, { headers: headersOfFile })
    },
  }
  const context = createExecutionContext()
  const request = new Request(`https://lathe.test${path}`, { redirect: "manual", ...init })
  const answer = await app.fetch(request, { ...env, ASSETS }, context)
  await waitOnExecutionContext(context)
  return answer
}

describe("an address below /docs", () => {
  test.each([
    ["/docs", "home", "text/html; charset=utf-8"],
    ["/docs/", "home", "text/html; charset=utf-8"],
    ["/docs/index.md", "# home", "text/markdown; charset=utf-8"],
    ["/docs/guide/commands", "commands", "text/html; charset=utf-8"],
    ["/docs/errors/", "errors", "text/html; charset=utf-8"],
    ["/docs/errors/not_found", "not found", "text/html; charset=utf-8"],
    ["/docs/llms.txt", "llms", "text/plain; charset=utf-8"],
  ])("%s gives its file", async (path, text, type) => {
    const answer = await ask(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe(type)
    expect(answer.headers.get("cache-control")).toBe("public, no-cache")
    expect(await answer.text()).toBe(text)
  })

  test.each([
    ["/docs/errors", "/docs/errors/"],
    ["/docs/guide/commands/", "/docs/guide/commands"],
    ["/docs/errors/validation_error", "/docs/errors/unprocessable"],
    ["/docs/errors/Unprocessable", "/docs/errors/unprocessable"],
    ["/docs/errors/not-found", "/docs/errors/not_found"],
    ["/docs/errors/not_found/", "/docs/errors/not_found"],
  ])("%s redirects to %s", async (path, target) => {
    const answer = await ask(path)
    expect([answer.status, answer.headers.get("location")]).toEqual([308, target])
  })

  test("of a file with a hash in its name may be kept forever", async () => {
    const answer = await ask("/docs/assets/site.0123456789.css")
    expect(answer.headers.get("content-type")).toBe("text/css; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
  })

  test("is asked for again by its tag", async () => {
    const answer = await ask("/docs", SITE, { headers: { "if-none-match": '"1"' } })
    expect([answer.status, answer.headers.get("etag")]).toEqual([304, '"1"'])
  })

  test("is asked for again by its time", async () => {
    for (const [time, status] of [
      [CHANGED_AT, 304],
      ["Thu, 26 Nov 2026 18:31:39 GMT", 200],
    ] as const) {
      const answer = await ask("/docs", SITE, { headers: { "if-modified-since": time } })
      expect(answer.status).toBe(status)
    }
  })

  test("of no page is not found", async () => {
    const answer = await ask("/docs/guide/nosuch")
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain("No page of the documentation has this address.")
  })

  test.each(["nosuch", "toString", "__proto__", "%3Cscript%3E", "a%0D%0Ab"])(
    "/docs/errors/%s is not found, with a link to all codes",
    async (code) => {
      const answer = await ask(`/docs/errors/${code}`)
      const html = await answer.text()
      expect(answer.status).toBe(404)
      expect(html).toContain("Unknown error code")
      expect(html).toContain('href="/docs/errors/"')
      expect(html).not.toContain("<script")
    },
  )

  test("of a misspelled error code suggests the code", async () => {
    const answer = await ask("/docs/errors/not_fuond")
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain("Did you mean not_found?")
  })

  test("runs no inline script; the viewer alone may add styles", async () => {
    const policies = await Promise.all(
      ["/docs", "/docs/reference/viewer"].map(async (path) => {
        const { headers } = await ask(path)
        return headers.get("content-security-policy") ?? ""
      }),
    )
    for (const policy of policies)
      expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policies.map((policy) => policy.includes("unsafe-inline"))).toEqual([false, true])
  })

  it("takes no other method", async () => {
    for (const path of ["/docs", "/docs/errors/", "/docs/errors/internal"]) {
      const answer = await ask(path, SITE, { method: "POST" })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      expect((await readProblem(answer)).code_name).toBe("method_not_allowed")
    }
  })
})

test("/llms.txt leads to that of the documentation", async () => {
  expect((await ask("/llms.txt")).headers.get("location")).toBe("/docs/llms.txt")
})

test("a site that was not built names the command that builds it", async () => {
  for (const path of ["/docs", "/docs/guide/commands", "/docs/errors/not_found"]) {
    const answer = await ask(path, {})
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain("npm run setup")
  }
})
