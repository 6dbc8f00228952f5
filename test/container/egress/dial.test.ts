import { afterAll, describe, expect, it, vi } from "vitest"
import { EgressError } from "../../../container/egress/dial.ts"
import type { Dial } from "../../../container/egress/dial.ts"
import type { Resolve } from "../../../container/egress/resolve-host.ts"
import { PUBLIC, serve, startUpstream, testDial, to } from "./lab.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())
const { signal } = new AbortController()

/** What a dial comes to: an open connection, or the error. */
async function outcome(dial: Dial, url: string, until = signal): Promise<unknown> {
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
  it("refuses a host with any address that is not public, without saying which", async () => {
    for (const inside of ["10.0.0.8", "::1", "::ffff:10.0.0.8", "169.254.169.254", "no address"]) {
      const dial = testDial({ resolve: to(PUBLIC, inside) })
      expect(await outcome(dial, "http://a.example/")).toEqual([
        "url_not_allowed",
        'The host "a.example" resolves to a private address.',
      ])
    }
  })

  it("refuses an address of this machine's own, as it is at that moment", async () => {
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

  it("looks a name up once, and connects to what it checked", async () => {
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

  it("tries one address after the other", async () => {
    await using server = await serve((_, answer) => answer.end())
    const addresses = ["127.0.0.2", "::1", "127.0.0.1"]
    const dial = testDial({ allowedHosts: ["many.example"], resolve: to(...addresses) })
    expect(await outcome(dial, `http://many.example:${server.port}/`)).toBe("open")
    expect(server.count()).toBe(1)
  })

  it("tells the operator that hosts are allowed by name, with or without a port", async () => {
    await using server = await serve((_, answer) => answer.end())
    const resolve = vi.fn<Resolve>(to("127.0.0.1"))
    const url = `http://inside.example:${server.port}/`
    const host = new URL(url).host
    expect(await outcome(testDial({ allowedHosts: [host], resolve }), url)).toBe("open")
    expect(resolve).toHaveBeenLastCalledWith("inside.example", true)
    const others = testDial({ allowedHosts: ["inside.example:1", "other.example"], resolve })
    expect(await outcome(others, url)).toMatchObject(["url_not_allowed", expect.anything()])
    expect(resolve).toHaveBeenLastCalledWith("inside.example", false)
  })

  it("tells apart why a host cannot be reached, and names no address", async () => {
    async function said(resolve: Resolve): Promise<unknown> {
      return await outcome(
        testDial({ allowedHosts: ["a.example"], resolve }),
        "http://a.example:9/",
      )
    }
    function failing(code: string): Resolve {
      return () => Promise.reject(systemError(code))
    }
    expect(await said(to())).toEqual(["connection_failed", 'The host "a.example" has no address.'])
    expect(await said(failing("ENOTFOUND"))).toEqual([
      "connection_failed",
      'There is no host "a.example".',
    ])
    expect(await said(failing("ETIMEOUT"))).toEqual([
      "too_slow",
      '"a.example" did not answer in time.',
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

  it("waits neither for a look-up nor for a connection once its signal aborts", async () => {
    const stop = new AbortController()
    const dial = testDial({ resolve: () => new Promise(() => undefined) })
    const ended = outcome(dial, "http://a.example/", stop.signal)
    stop.abort(new Error("enough"))
    expect(await ended).toEqual(new Error("enough"))
    expect(await outcome(dial, "http://a.example/", stop.signal)).toEqual(new Error("enough"))
  })
})

describe("the operator's proxy", () => {
  it("is asked for the checked address alone, with the password that its URL has", async () => {
    await using server = await serve((_, answer) => answer.end())
    await using upstream = await startUpstream(() => server.port)
    upstream.url.username = "us er"
    upstream.url.password = "p:ä"
    const dial = testDial({ upstream: upstream.url, resolve: to("2606:4700:4700::1111") })
    expect(await outcome(dial, "http://a.example:8080/")).toBe("open")
    expect(upstream.targets).toEqual(["[2606:4700:4700::1111]:8080"])
    expect(upstream.credentials).toEqual([`Basic ${Buffer.from("us er:p:ä").toString("base64")}`])
  })

  it("is asked for the next address where it does not reach one", async () => {
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

  it("is named where it refuses, or is not there", async () => {
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
