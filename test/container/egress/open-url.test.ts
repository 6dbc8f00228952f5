import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { afterAll, describe, expect, it, vi } from "vitest"
import { open, ends } from "./client-lab.ts"
import { serve, serveBytes, testDial } from "./lab.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

/** Starts a site at which `/n` redirects to the location that `next` returns. */
async function redirecting(next: (path: string) => string, seen: IncomingMessage[] = []) {
  return await serve((incoming, answer) => {
    seen.push(incoming)
    answer.writeHead(302, { location: next(incoming.url ?? "") }).end("moved")
  })
}

describe("opening a URL", () => {
  it("returns a response of any status, with its body not decoded", async () => {
    const seen: IncomingMessage[] = []
    await using site = await serve((incoming, answer) => {
      seen.push(incoming)
      answer.writeHead(404, { "content-encoding": "gzip" }).end("no gzip at all")
    })
    const url = `http://a.example:${site.port}/x?y=z`
    const answer = await open(`${url}#fragment`)
    expect(answer.response.statusCode).toBe(404)
    expect(await text(answer.response)).toBe("no gzip at all")
    expect(seen[0]).toMatchObject({ method: "GET", url: "/x?y=z" })
    expect(seen[0]?.headers).toEqual({
      host: `a.example:${site.port}`,
      accept: "*/*",
      "accept-encoding": "identity",
      "user-agent": "Mozilla/5.0 (compatible; Lathe)",
      connection: "close",
    })
    const headers = { "User-Agent": "own", Range: "bytes=5-" }
    ;(await open(url, { headers })).response.resume()
    expect(seen[1]?.headers).toMatchObject({ "user-agent": "own", range: "bytes=5-" })
    await pWaitFor(() => site.open.size === 0)
  })

  it("times out if the response's head or the lookup takes too long", async () => {
    await using silent = await serveBytes(() => undefined)
    await using slow = await serveBytes((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      const timer = setInterval(() => socket.write("X-A: b\r\n"), 10)
      socket.once("close", () => clearInterval(timer))
    })
    for (const { port } of [silent, slow]) {
      expect(await ends(`http://a.example:${port}/`, { headMsMax: 100 })).toEqual([
        "too_slow",
        '"a.example" did not respond in time.',
      ])
    }
    await pWaitFor(() => silent.open.size + slow.open.size === 0)
    const never = testDial({ resolve: () => new Promise(() => undefined) })
    expect(await ends("https://c.example/", { dial: never, headMsMax: 100 })).toEqual([
      "too_slow",
      '"c.example" did not respond in time.',
    ])
  })

  it("reads a slow body and ends a silent one, but waits for a slow reader", async () => {
    const body = Buffer.alloc(4 * 1024 * 1024)
    await using site = await serve((incoming, answer) => {
      if (incoming.url === "/silent") return void answer.write("some")
      if (incoming.url === "/whole") return void answer.end(body)
      let left = 10
      const timer = setInterval(() => {
        answer.write("x")
        left -= 1
        if (left > 0) return
        clearInterval(timer)
        answer.end()
      }, 20)
    })
    const idleMsMax = 100
    expect(await ends(`http://a.example:${site.port}/drip`, { idleMsMax })).toBeNull()
    expect(await ends(`http://a.example:${site.port}/silent`, { idleMsMax })).toEqual([
      "too_slow",
      '"a.example" sent nothing for 0.1 seconds.',
    ])
    const { response } = await open(`http://a.example:${site.port}/whole`, { idleMsMax })
    await sleep(400)
    expect((await text(response)).length).toBe(body.length)
  })

  it("fails for a response that is not HTTP", async () => {
    await using resetting = await serveBytes((socket) =>
      socket.once("data", () => socket.resetAndDestroy()),
    )
    await using babbling = await serveBytes((socket) => socket.end("220 mail.example ESMTP\r\n"))
    await using large = await serve((_, answer) => answer.setHeader("a", "a".repeat(70_000)).end())
    function at({ port }: { port: number }): string {
      return `http://a.example:${port}/`
    }
    expect(await ends(at(resetting))).toEqual([
      "connection_failed",
      '"a.example" closed the connection.',
    ])
    expect(await ends(at(babbling))).toEqual([
      "server_error",
      '"a.example" did not respond by HTTP.',
    ])
    expect(await ends(at(large))).toEqual([
      "server_error",
      'The response head of "a.example" is too large.',
    ])
  })

  it("ends when its signal aborts, also while the body is read", async () => {
    await using site = await serve((incoming, answer) => {
      if (incoming.url === "/body") answer.write("some")
    })
    for (const path of ["/head", "/body"]) {
      const stop = new AbortController()
      const ended = ends(`http://a.example:${site.port}${path}`, { signal: stop.signal })
      await pWaitFor(() => site.open.size === 1)
      await sleep(20)
      stop.abort(new Error("enough"))
      expect(await ended).toEqual(new Error("enough"))
      await pWaitFor(() => site.open.size === 0)
    }
  })
})

describe("a redirect", () => {
  it("is followed up to five times, each checked and reported", async () => {
    const onRedirect = vi.fn<(url: URL) => void>()
    await using site = await serve((incoming, answer) => {
      const hop = Number(incoming.url?.slice(1))
      if (hop >= 5) answer.end("there")
      else
        answer.writeHead([301, 302, 303, 307, 308][hop] ?? 0, { location: String(hop + 1) }).end()
    })
    const origin = `http://a.example:${site.port}`
    const { url, response } = await open(`${origin}/0`, { onRedirect })
    expect([url.href, await text(response)]).toEqual([`${origin}/5`, "there"])
    expect(onRedirect.mock.calls.map(([{ href }]) => href)).toEqual(
      [1, 2, 3, 4, 5].map((hop) => `${origin}/${hop}`),
    )
    expect(await ends(`${origin}/0`, { redirectsMax: 4 })).toEqual([
      "too_many_redirects",
      "There are more than 4 redirects.",
    ])
    await pWaitFor(() => site.open.size === 0)
  })

  it("is not followed in a circle or without end", async () => {
    await using pair = await redirecting((path) => (path === "/a" ? "/b#x" : "/a"))
    expect(await ends(`http://a.example:${pair.port}/a`)).toEqual([
      "too_many_redirects",
      "The redirects lead back to where they began.",
    ])
    const seen: IncomingMessage[] = []
    await using endless = await redirecting((path) => `${path}x`, seen)
    expect(await ends(`http://a.example:${endless.port}/`)).toMatchObject([
      "too_many_redirects",
      {},
    ])
    expect(seen).toHaveLength(6)
  })

  it.for([
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "//0x7f.1:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://ⓛocalhost:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http://inside.example:PORT/",
    "https://a.example@127.0.0.1:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,inside",
    "http://",
    "http://user:secret@a.example:PORT/",
  ])("to %s is not followed", async (to) => {
    await using inside = await serve((_, answer) => answer.end("inside"))
    const location = Buffer.from(to.replace("PORT", String(inside.port))).toString("latin1")
    await using site = await redirecting(() => location)
    expect(await ends(`http://a.example:${site.port}/`)).toMatchObject(["url_not_allowed", {}])
    expect(inside.count()).toBe(0)
  })

  it.for([
    ["another port", (other: number) => `http://a.example:${other}/`],
    ["another host", (other: number) => `http://b.example:${other}/`],
  ] as const)("keeps private headers within its own origin, and not at %s", async ([, away]) => {
    const seen: IncomingMessage[] = []
    const paths: Record<string, string> = { "/": "/same" }
    await using site = await redirecting((path) => paths[path] ?? "/end", seen)
    const home = `http://a.example:${site.port}`
    await using other = await redirecting(() => `${home}/back`, seen)
    paths["/same"] = away(other.port)
    const privateHeaders: [string, string][] = [
      ["Cookie", "a=b"],
      ["authorization", "Basic x"],
      ["X-Own", "y"],
      ["User-Agent", "own"],
    ]
    const headers = { Range: "bytes=1-" }
    await ends(`${home}/`, { headers, privateHeaders, redirectsMax: 3 })
    const sent = seen.map((incoming) => [
      incoming.headers.cookie,
      incoming.headers.authorization,
      incoming.headers["x-own"],
      incoming.headers["user-agent"],
      incoming.headers.range,
    ])
    const all = ["a=b", "Basic x", "y", "own", "bytes=1-"]
    const none = [undefined, undefined, undefined, "Mozilla/5.0 (compatible; Lathe)", "bytes=1-"]
    // The other origin redirects back to the first, which gets none either.
    expect(sent).toEqual([all, all, none, none])
  })

  it("ends if the caller throws, and is a plain response without a location", async () => {
    await using site = await redirecting(() => "/next")
    const error = new Error("not there")
    function onRedirect(): never {
      throw error
    }
    expect(await ends(`http://a.example:${site.port}/`, { onRedirect })).toBe(error)
    expect(site.count()).toBe(1)
    await using lost = await serve((_, answer) => answer.writeHead(302).end("where to?"))
    const { response } = await open(`http://a.example:${lost.port}/`)
    expect([response.statusCode, await text(response)]).toEqual([302, "where to?"])
  })
})
