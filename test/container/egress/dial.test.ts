import { afterAll, describe, expect, it, vi } from "vitest"
import { EgressError } from "../../../container/egress/dial.ts"
import type { DialFunction } from "../../../container/egress/dial.ts"
import type { HostResolver } from "../../../container/egress/resolve-host.ts"
import { PUBLIC, serve, startUpstream, testDial, to } from "./lab.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())
const { signal } = new AbortController()

/** Returns the result of a dial: an open connection, or its error. */
async function outcome(dial: DialFunction, url: string, until = signal): Promise<unknown> {
  try {
    const socket = await dial(new URL(url), until)
    socket.destroy()
    return "open"
  } catch (error) {
    return error instanceof EgressError ? [error.code, error.message] : error
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code} 10.0.0.1`), { code })
}

describe("a dial", () => {
  it("refuses a host with any private address, without naming that address", async () => {
    for (const inside of ["10.0.0.8", "::1", "::ffff:10.0.0.8", "169.254.169.254", "no address"]) {
      const dial = testDial({ resolve: to(PUBLIC, inside) })
      expect(await outcome(dial, "http://a.example/")).toEqual([
        "url_not_allowed",
        'The host "a.example" resolves to a private address.',
      ])
    }
  })

  it("refuses an address that this machine has at the time of the call", async () => {
    const own: string[] = []
    await using server = await serve((_, answer) => answer.end())
    const upstream = opened.use(await startUpstream(() => server.port))
    const dial = testDial({ upstream: upstream.url, readOwn: () => own })
    expect(await outcome(dial, "http://a.example/")).toBe("open")
    own.push(`${PUBLIC}/32`)
    expect(await outcome(dial, "http://a.example/")).toMatchObject([
      "url_not_allowed",
      expect.anything(),
    ])
  })

  it("resolves a name once, and connects to the checked address", async () => {
    await using server = await serve((_, answer) => answer.end())
    await using upstream = await startUpstream(() => server.port)
    let lookups = 0
    const dial = testDial({
      upstream: upstream.url,
      resolve: (host) => to(lookups++ % 2 === 0 ? PUBLIC : "127.0.0.1")(host, false),
    })
    const url = "https://rebind.example/"
    expect(await outcome(dial, url)).toBe("open")
    expect(await outcome(dial, url)).toMatchObject(["url_not_allowed", expect.anything()])
    expect(await outcome(dial, url)).toBe("open")
    expect(upstream.targets).toEqual([`${PUBLIC}:443`, `${PUBLIC}:443`])
  })

  it("tries one address after another", async () => {
    await using server = await serve((_, answer) => answer.end())
    const addresses = ["127.0.0.2", "::1", "127.0.0.1"]
    const dial = testDial({ allowedHosts: ["many.example"], resolve: to(...addresses) })
    expect(await outcome(dial, `http://many.example:${server.port}/`)).toBe("open")
    expect(server.count()).toBe(1)
  })

  it("reaches hosts that the operator allows by name, with or without a port", async () => {
    await using server = await serve((_, answer) => answer.end())
    const resolve = vi.fn<HostResolver>(to("127.0.0.1"))
    const url = `http://inside.example:${server.port}/`
    const host = new URL(url).host
    expect(await outcome(testDial({ allowedHosts: [host], resolve }), url)).toBe("open")
    expect(resolve).toHaveBeenLastCalledWith("inside.example", true)
    const others = testDial({ allowedHosts: ["inside.example:1", "other.example"], resolve })
    expect(await outcome(others, url)).toMatchObject(["url_not_allowed", expect.anything()])
    expect(resolve).toHaveBeenLastCalledWith("inside.example", false)
  })

  it("reports why a host cannot be reached, without naming an address", async () => {
    async function said(resolve: HostResolver): Promise<unknown> {
      return await outcome(
        testDial({ allowedHosts: ["a.example"], resolve }),
        "http://a.example:9/",
      )
    }
    function failing(code: string): HostResolver {
      return () => Promise.reject(systemError(code))
    }
    expect(await said(to())).toEqual(["connection_failed", 'The host "a.example" has no address.'])
    expect(await said(failing("ENOTFOUND"))).toEqual([
      "connection_failed",
      'There is no host "a.example".',
    ])
    expect(await said(failing("ETIMEOUT"))).toEqual([
      "too_slow",
      '"a.example" did not respond in time.',
    ])
    expect(await said(failing("ESERVFAIL"))).toEqual([
      "connection_failed",
      'The connection to "a.example" failed (ESERVFAIL).',
    ])
    expect(await said(to("127.0.0.1"))).toEqual([
      "connection_failed",
      '"a.example" refused the connection.',
    ])
    expect(await said(to("255.255.255.255"))).toEqual([
      "connection_failed",
      expect.stringMatching(/^The connection to "a.example" failed \(E[A-Z]+\)\.$/),
    ])
  })

  it("stops a lookup and a connection attempt once its signal aborts", async () => {
    const stop = new AbortController()
    const dial = testDial({ resolve: () => new Promise(() => undefined) })
    const ended = outcome(dial, "http://a.example/", stop.signal)
    stop.abort(new Error("enough"))
    expect(await ended).toEqual(new Error("enough"))
    expect(await outcome(dial, "http://a.example/", stop.signal)).toEqual(new Error("enough"))
  })
})

describe("the operator's proxy", () => {
  it("receives only the checked address, with the password from its URL", async () => {
    await using server = await serve((_, answer) => answer.end())
    await using upstream = await startUpstream(() => server.port)
    upstream.url.username = "us er"
    upstream.url.password = "p:ä"
    const dial = testDial({ upstream: upstream.url, resolve: to("2606:4700:4700::1111") })
    expect(await outcome(dial, "http://a.example:8080/")).toBe("open")
    expect(upstream.targets).toEqual(["[2606:4700:4700::1111]:8080"])
    expect(upstream.credentials).toEqual([`Basic ${Buffer.from("us er:p:ä").toString("base64")}`])
  })

  it("receives the next address if it cannot reach the first", async () => {
    await using server = await serve((_, answer) => answer.end())
    await using upstream = await startUpstream((target) =>
      target.startsWith("[") ? null : server.port,
    )
    const resolve = to("2606:4700:4700::1111", PUBLIC)
    expect(await outcome(testDial({ upstream: upstream.url, resolve }), "http://a.example/")).toBe(
      "open",
    )
    expect(upstream.targets).toEqual(["[2606:4700:4700::1111]:80", `${PUBLIC}:80`])
  })

  it("is named in the error if it refuses or is unreachable", async () => {
    await using upstream = await startUpstream(() => null)
    expect(await outcome(testDial({ upstream: upstream.url }), "http://a.example/")).toEqual([
      "connection_failed",
      "The proxy of this service refused it (502).",
    ])
    await upstream[Symbol.asyncDispose]()
    expect(await outcome(testDial({ upstream: upstream.url }), "http://a.example/")).toEqual([
      "connection_failed",
      "The proxy of this service refused the connection.",
    ])
  })
})
