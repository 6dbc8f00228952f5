import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { requestUrlWithRedirects } from "../../../container/egress/open-url.ts"
import { EgressError } from "../../../container/egress/dial.ts"
import type { ToolProxy } from "../../../container/egress/tool-proxy.ts"
import { forward, get, send, serve, startProxy, testDial, to } from "./lab.ts"
import type { TestServer } from "./lab.ts"
import { OTHER_URLS, PRIVATE_HOSTS } from "./spellings.ts"

const run = promisify(execFile)
const opened = new AsyncDisposableStack()
const { signal } = new AbortController()
// An unknown name resolves to this machine.
const dial = testDial({ resolve: to("127.0.0.1") })
let canary: TestServer
let proxy: ToolProxy

beforeAll(async () => {
  canary = opened.use(await serve((_, answer) => answer.end("inside")))
  proxy = opened.use(await startProxy(dial))
})
afterAll(async () => await opened.disposeAsync())

/** Returns the code with which a URL is refused on opening; a malformed URL is refused earlier. */
async function refusalOf(text: string): Promise<unknown> {
  const url = URL.parse(text)
  if (!url) return "url_not_allowed"
  const end = await requestUrlWithRedirects(url, { dial, signal }).catch((error: unknown) => error)
  return end instanceof EgressError ? end.code : end
}

describe.for(PRIVATE_HOSTS)("a host that is written %j", (host) => {
  function url(): string {
    return `http://${host}:${canary.port}/`
  }

  it("is refused by the proxy, without a connection", async () => {
    expect(await get(proxy, url())).toMatch(/^HTTP\/1.1 40[03] /)
    expect(await send(proxy, `CONNECT ${host}:${canary.port} HTTP/1.1`, "Host: a")).toMatch(
      /^HTTP\/1.1 40[03] /,
    )
    expect(canary.count()).toBe(0)
  })

  it("is refused on opening", async () => {
    expect(await refusalOf(url())).toBe("url_not_allowed")
    expect(canary.count()).toBe(0)
  })
})

describe.for(OTHER_URLS)("the URL %j", (url) => {
  it("is refused by the proxy", async () => {
    expect(await get(proxy, url)).toMatch(/^HTTP\/1.1 40[03] /)
  })

  it("is refused on opening", async () => {
    expect(await refusalOf(url)).toBe("url_not_allowed")
  })
})

it("blocks curl's requests and tunnels to private hosts, however curl reads the name", async () => {
  await using port = await forward(proxy)
  const urls = PRIVATE_HOSTS.map((host) => `http://${host}:${canary.port}/`)
  const options = ["-sgk", "--noproxy", "", "-m", "5", "-x", `http://127.0.0.1:${port.port}`]
  for (const more of [[], ["-p"]]) {
    const told = await run("curl", [...options, ...more, ...urls]).catch((error: unknown) => error)
    expect(JSON.stringify(told)).not.toContain("inside")
  }
  expect(port.count()).toBeGreaterThan(100)
  expect(canary.count()).toBe(0)
})

it("detects a connection to the canary", async () => {
  const allowing = testDial({ allowedHosts: ["127.0.0.1"], resolve: to("127.0.0.1") })
  await using open = await startProxy(allowing)
  expect(await get(open, `http://0x7f.1:${canary.port}/`)).toContain("inside")
  expect(canary.count()).toBe(1)
})
