import type { IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { afterAll, describe, expect, it, vi } from "vitest"
import { open, ends } from "./client-lab.ts"
import { serve, serveBytes, testDial } from "./lab.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

/** A site at which `/n` redirects to what `next` says. */
async function redirecting(next: (path: string) => string, seen: IncomingMessage[] = []) {
  return await serve((incoming, answer) => {
    seen.push(incoming)
    answer.writeHead(302, { location: next(incoming.url ?? "") }).end("moved")
  })
}

describe("opening a URL", () => {
  it("gives the answer of any status, with its body as it was sent", async () => {
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

  it("waits for the head no longer than it may, and for a name neither", async () => {
    await using silent = await serveBytes(() => undefined)
    await using slow = await serveBytes((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      const timer = setInterval(() => socket.write("X-A: b\r\n"), 10)
      socket.once("close", () => clearInterval(timer))
    })
    for (const { port } of [silent, slow]) {
      expect(await ends(`http://a.example:${port}/`, { headMsMax: 100 })).toEqual([
        "too_slow",
        '"a.example" did not answer in time.',
      ])
    }
    await pWaitFor(() => silent.open.size + slow.open.size === 0)
    const never = testDial({ resolve: () => new Promise(() => undefined) })
    expect(await ends("https://c.example/", { dial: never, headMsMax: 100 })).toEqual([
      "too_slow",
      '"c.example" did not answer in time.',
    ])
  })

  it("reads what drips, and ends what falls silent, but not for a reader that is slow itself", async () => {
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

  it("tells what is no answer", async () => {
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
      '"a.example" did not answer by HTTP.',
    ])
    expect(await ends(at(large))).toEqual([
      "server_error",
      'The head of the answer of "a.example" is too large.',
    ])
  })

  it("ends with its signal, also while the body is read", async () => {
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
  it("is followed five times, each checked and told", async () => {
    const onHop = vi.fn<(url: URL) => void>()
    await using site = await serve((incoming, answer) => {
      const hop = Number(incoming.url?.slice(1))
      if (hop >= 5) answer.end("there")
      else
        answer.writeHead([301, 302, 303, 307, 308][hop] ?? 0, { location: String(hop + 1) }).end()
    })
    const origin = `http://a.example:${site.port}`
    const { url, response } = await open(`${origin}/0`, { onHop })
    expect([url.href, await text(response)]).toEqual([`${origin}/5`, "there"])
    expect(onHop.mock.calls.map(([{ href }]) => href)).toEqual(
      [1, 2, 3, 4, 5].map((hop) => `${origin}/${hop}`),
    )
    expect(await ends(`${origin}/0`, { redirectsMax: 4 })).toEqual([
      "too_many_redirects",
      "There are more than 4 redirects.",
    ])
    await pWaitFor(() => site.open.size === 0)
  })

  it("is not followed in a circle, nor for ever", async () => {
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

  it("takes credentials along to its own origin alone", async () => {
    const seen: IncomingMessage[] = []
    const other = opened.use(
      await serve((incoming, answer) => {
        seen.push(incoming)
        answer.end()
      }),
    )
    const paths = { "/": "/same", "/same": `http://b.example:${other.port}/` }
    await using site = await redirecting(
      (path) => Object.entries(paths).find(([from]) => from === path)?.[1] ?? "",
      seen,
    )
    const headers = {
      Cookie: "a=b",
      Authorization: "Basic x",
      Referer: "http://a.example/",
      Range: "bytes=1-",
    }
    ;(await open(`http://a.example:${site.port}/`, { headers })).response.resume()
    const sent = seen.map((incoming) => [
      incoming.headers.cookie,
      incoming.headers.authorization,
      incoming.headers.referer,
      incoming.headers.range,
    ])
    const all = ["a=b", "Basic x", "http://a.example/", "bytes=1-"]
    expect(sent).toEqual([all, all, [undefined, undefined, undefined, "bytes=1-"]])
  })

  it("is not followed where the caller throws, and is an answer where it leads nowhere", async () => {
    await using site = await redirecting(() => "/next")
    const error = new Error("not there")
    function onHop(): never {
      throw error
    }
    expect(await ends(`http://a.example:${site.port}/`, { onHop })).toBe(error)
    expect(site.count()).toBe(1)
    await using lost = await serve((_, answer) => answer.writeHead(302).end("where to?"))
    const { response } = await open(`http://a.example:${lost.port}/`)
    expect([response.statusCode, await text(response)]).toEqual([302, "where to?"])
  })
})
