import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { fetchWorker } from "../support/caller.ts"
import { readProblem } from "../support/problem.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

const FOR_PEOPLE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

describe("an unknown path", () => {
  test("returns a page to a browser", async () => {
    const answer = await fetchWorker("/nowhere", { headers: FOR_PEOPLE })
    expect(answer.status).toBe(404)
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/)
    expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'")
    const html = await answer.text()
    expect(html).toContain("No page exists at this address.")
    expect(html).toContain(answer.headers.get("x-request-id"))
    expect(html).not.toContain('aria-label="Main"')
  })

  test("has the navigation for a signed-in user", async () => {
    const person = await makeSignedInUser()
    const answer = await person.visit("/nowhere")
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('aria-label="Main"')
  })

  test.each([
    ["a program", "/nowhere", { accept: "application/json" }, "GET"],
    ["a client without Accept", "/nowhere", {}, "GET"],
    ["a form", "/nowhere", FOR_PEOPLE, "POST"],
    ["a path of programs", "/assets/nowhere", FOR_PEOPLE, "GET"],
  ])("returns JSON to %s", async (_, path, headers, method) => {
    const answer = await fetchWorker(path, { headers, method })
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(await readProblem(answer)).toMatchObject({ code: "not_found" })
  })
})

test("a suspended account sees a notice on its pages, and its user may still sign out", async () => {
  const person = await makeSignedInUser()
  const suspend = "update accounts set suspended_at = 1 where id = ?"
  await env.DB.prepare(suspend).bind(person.accountId).run()
  const answer = await person.visit("/")
  expect(answer.status).toBe(403)
  const html = await answer.text()
  expect(html).toContain("The account is suspended")
  expect(html).toContain('action="/sign-out"')
})

describe("an asset", () => {
  test("is cached for ever at the URL with its hash, and has no other URL", async () => {
    const html = await (await fetchWorker("/nowhere", { headers: FOR_PEOPLE })).text()
    const [path = "", fingerprint = ""] = /\/assets\/(\w+)\/dashboard\.css/.exec(html) ?? []
    const answer = await fetchWorker(path)
    expect(answer.headers.get("content-type")).toBe("text/css; charset=utf-8")
    expect(answer.headers.get("cache-control")).toContain("immutable")
    expect(await answer.text()).toContain("@layer")
    const other = await fetchWorker(path.replace(fingerprint, "0"))
    expect([other.status, other.headers.get("cache-control")]).toEqual([404, "no-store"])
  })
})
