import { expect, it } from "vitest"
import { isSiteAllowed, readSites } from "../../src/contract/allowed-site.ts"

it.each([
  ["https://a.example/x", "a.example", true],
  ["https://www.a.example/", "a.example", true],
  ["https://A.EXAMPLE./", "a.example", true],
  ["https://nota.example/", "a.example", false],
  ["https://a.example.evil.test/", "a.example", false],
  ["https://b.example/", "a.example, *.B.example", true],
  ["https://anything.example/", "", true],
])("%s with the sites %s: %s", (url, sites, allowed) => {
  expect(isSiteAllowed(new URL(url), readSites(sites))).toBe(allowed)
})
