import { describe, expect, test } from "vitest"
import { fetchWorker } from "../support/caller.ts"
import { makeSignedInUser } from "../support/accounts/signed-in.ts"

test("a page has its navigation, its title and a skip link", async () => {
  const person = await makeSignedInUser()
  const answer = await person.visit("/")
  expect(answer.status).toBe(200)
  expect(answer.headers.get("content-type")).toMatch(/^text\/html/)
  const html = await answer.text()
  expect(html).toMatch(/^<!doctype html>/)
  expect(html).toContain('href="#main"')
  expect(html).toMatch(/<a href="\/" aria-current="page">/)
  expect(html).toContain(person.email)
  expect(html).not.toContain("/operate/")
})

test("an operator has the operator's pages in the navigation", async () => {
  const operator = await makeSignedInUser({ isOperator: true })
  const html = await (await operator.visit("/")).text()
  expect(html).toContain('href="/operate/accounts"')
})

test("a visitor who is not signed in is redirected to sign-in, and back afterwards", async () => {
  const answer = await fetchWorker("/?a=1")
  expect(answer.status).toBe(303)
  expect(answer.headers.get("location")).toBe("/sign-in?next=%2F%3Fa%3D1")
})

describe("a form", () => {
  test.each([
    ["another site", { origin: "https://elsewhere.test" }],
    ["an unknown place", {}],
    ["a page without an origin", { origin: "null", "sec-fetch-site": "cross-site" }],
  ])("is refused from %s, without an effect", async (_, headers: Record<string, string>) => {
    const person = await makeSignedInUser()
    const answer = await person.visit("/keys", {
      method: "POST",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: "name=stolen&scope=admin&days=",
    })
    expect(answer.status).toBe(403)
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/)
    expect(await (await person.visit("/keys")).text()).not.toContain("stolen")
  })

  test.each([
    ["JSON", "application/json", 415],
    ["a type of its own", "application/x-www-form-urlencoded-not", 415],
    ["parts without an end", "multipart/form-data; boundary=x", 422],
    ["parts without a boundary", "multipart/form-data", 422],
  ])("is refused as %s, without an effect", async (_, type, status) => {
    const person = await makeSignedInUser()
    const headers = { origin: "https://lathe.test", "content-type": type }
    for (const path of ["/keys", "/settings/password", "/sign-in"]) {
      const answer = await person.visit(path, { method: "POST", headers, body: "--x\r\nno" })
      expect([path, answer.status]).toEqual([path, status])
    }
  })

  test("of another type is refused from other sites", async () => {
    const person = await makeSignedInUser()
    const headers = { origin: "https://elsewhere.test", "content-type": "application/json" }
    const answer = await person.visit("/webhooks/secret/rotate", { method: "POST", headers })
    expect(answer.status).toBe(415)
    await person.visit("/sign-out", { method: "POST", headers })
    expect((await person.visit("/keys")).status).toBe(200)
  })

  test("is refused if it is too large", async () => {
    const person = await makeSignedInUser()
    const answer = await person.submit("/keys", { name: "x".repeat(3_000_000) })
    expect(answer.status).toBe(413)
  })
})

test("pages load nothing from other sites, and send them no referrer", async () => {
  const { headers } = await (await makeSignedInUser()).visit("/")
  const policy = headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("form-action 'self'")
  expect(policy).not.toMatch(/unsafe|https?:/)
  expect(headers.get("x-frame-options")).toBe("DENY")
  expect(headers.get("referrer-policy")).toBe("same-origin")
  expect(headers.get("cache-control")).toBe("no-store")
})

test.each([
  "/docs",
  "/docs/errors/no-such-code",
  "/forgot-password",
  "/no-such-page",
  "/reset-password?token=x",
  "/sign-in",
  "/sign-up",
  "/verify-email",
])("%s refuses frames and runs only the scripts of its policy", async (path) => {
  const answer = await fetchWorker(path, { headers: { accept: "text/html" } })
  const html = await answer.text()
  expect(answer.headers.get("content-type")).toMatch(/^text\/html/)
  expect(answer.headers.get("x-frame-options")).toBe("DENY")
  const policy = answer.headers.get("content-security-policy") ?? ""
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("base-uri 'none'")
  const scriptSources = /script-src ([^;]*)/.exec(policy)?.[1]?.split(" ") ?? []
  expect(scriptSources.filter((source) => !/^(?:'self'|https:\/\/\S+\.js)$/.test(source))).toEqual(
    [],
  )
  const scripts = [...html.matchAll(/<script[^>]*\ssrc="([^"]*)"[^>]*>/g)]
  for (const [element, source = ""] of scripts) {
    const isOwn = source.startsWith("/")
    expect(scriptSources).toContain(isOwn ? "'self'" : source)
    const isPinned = /\sintegrity="sha384-[A-Za-z0-9+/]{64}"/.test(element)
    expect({ source, isTrusted: isOwn || isPinned }).toEqual({ source, isTrusted: true })
  }
})
