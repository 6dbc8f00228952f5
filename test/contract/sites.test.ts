import { expect, it } from "vitest"
import { isSiteAllowed } from "../../src/contract/sites.ts"

it.each([
  ["https://a.example/x", ["a.example"], true],
  ["https://www.a.example/", ["a.example"], true],
  ["https://A.EXAMPLE./", ["a.example"], true],
  ["https://nota.example/", ["a.example"], false],
  ["https://a.example.evil.test/", ["a.example"], false],
  ["https://b.example/", ["a.example", "b.example"], true],
  ["https://anything.example/", [], true],
])("%s with the sites %s: %s", (url, sites, allowed) => {
  expect(isSiteAllowed(new URL(url), sites)).toBe(allowed)
})
