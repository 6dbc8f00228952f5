import { totalmem } from "node:os"
import { expect, test } from "vitest"
import { toRunnerSettings, parseRunnerEnvironment } from "../../container/settings.ts"

function egressOf(env: NodeJS.ProcessEnv) {
  return toRunnerSettings(parseRunnerEnvironment(env)).egress
}

test("fetches reach all public sites without a proxy by default", () => {
  expect(egressOf({})).toEqual({ allowedHosts: [], proxy: null, sites: [] })
  const empty = { ALLOWED_PRIVATE_HOSTS: "", FETCH_PROXY: "", FETCH_SITES: "" }
  expect(egressOf(empty)).toEqual({ allowedHosts: [], proxy: null, sites: [] })
})

test("fetches use the hosts, proxy and sites of the environment", () => {
  const { allowedHosts, proxy, sites } = egressOf({
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1:8080, NAS.lan",
    FETCH_PROXY: "http://user:pass%20word@10.0.0.1:3128",
    FETCH_SITES: "*.Example.com,example.org",
  })
  expect(allowedHosts).toEqual(["127.0.0.1:8080", "nas.lan"])
  expect(proxy).toMatchObject({ host: "10.0.0.1:3128", username: "user", password: "pass%20word" })
  expect(sites).toEqual(["example.com", "example.org"])
})

test.for(["10.0.0.1:3128", "https://proxy.example", "socks5://proxy.example", "nonsense"])(
  "a runner does not start with %s as the proxy of its fetches",
  (proxy) => {
    expect(() => egressOf({ FETCH_PROXY: proxy })).toThrow("expected an http:// URL")
  },
)

test("a tool may hold 85 % of the memory, or the configured limit", () => {
  function residentOf(env: NodeJS.ProcessEnv): number {
    return toRunnerSettings(parseRunnerEnvironment(env)).limits.residentBytes
  }
  expect(residentOf({}) / totalmem()).toBeLessThanOrEqual(0.85)
  expect(residentOf({})).toBeGreaterThan(0)
  expect(residentOf({ TOOL_RESIDENT_BYTES_MAX: "5000" })).toBe(5000)
})

function drainMsOf(env: NodeJS.ProcessEnv): number {
  return toRunnerSettings(parseRunnerEnvironment(env)).drainMs
}

test("tasks drain for the configured time, and by default not at all", () => {
  expect(drainMsOf({})).toBe(0)
  expect(drainMsOf({ DRAIN_SECONDS_MAX: "780" })).toBe(780_000)
  expect(() => drainMsOf({ DRAIN_SECONDS_MAX: "-1" })).toThrow("DRAIN_SECONDS_MAX")
})
