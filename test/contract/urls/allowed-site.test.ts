import { expect, test } from "vitest"
import { isSiteAllowed, parseSiteList } from "../../../src/contract/urls/allowed-site.ts"

function isAllowed(url: string, setting: string): boolean {
  return isSiteAllowed(new URL(url), parseSiteList(setting))
}

test("an empty list allows all sites", () => {
  expect(isAllowed("https://a.example/", "")).toBe(true)
  expect(isAllowed("https://a.example/", " , ")).toBe(true)
})

test.for([
  "https://a.example/",
  "https://a.example:8443/x?y#z",
  "http://www.a.example/",
  "https://x.y.a.example./",
  "https://b.example/",
  "https://xn--bcher-kva.example/",
  "https://www.bücher.example/",
  "https://C.EXAMPLE/",
])("%s belongs to a listed site or its subdomain", (url) => {
  expect(isAllowed(url, "A.example, *.b.example,bücher.example,.c.example.")).toBe(true)
})

test.for([
  "https://aa.example/",
  "https://a.example.evil.example/",
  "https://example/",
  "https://a-example/",
  "https://a.example@evil.example/",
])("%s belongs to no listed site", (url) => {
  expect(isAllowed(url, "a.example")).toBe(false)
})

test("an entry that is not a host allows nothing", () => {
  expect(isAllowed("https://a.example/", "https://a.example/")).toBe(false)
  expect(isAllowed("https://a.example/", "a b")).toBe(false)
})
