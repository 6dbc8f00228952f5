import { stat } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { EgressError } from "../../../container/egress/dial.ts"
import type { FailureCode } from "../../../src/contract/failure.ts"
import { get, send, serve, serveBytes, startProxy, testDial, to } from "./lab.ts"
import type { TestServer } from "./lab.ts"

type ReceivedRequest = {
  method: string
  url: string
  headers: IncomingMessage["headers"]
  body: string
}

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())
const dial = testDial({ allowedHosts: ["site.example"], resolve: to("127.0.0.1") })
const received: ReceivedRequest[] = []
let site: TestServer
let origin: string

beforeAll(async () => {
  site = opened.use(
    await serve((incoming, answer) => {
      void text(incoming).then((body) => {
        const { method = "", url = "", headers } = incoming
        received.push({ method, url, headers, body })
        answer.writeHead(200, { connection: "close, x-hop", "x-hop": "1", "x-end": "2" })
        answer.end(`heard ${url}`)
      })
    }),
  )
  origin = `http://site.example:${site.port}`
})

function lastReceived(): ReceivedRequest | undefined {
  return received.at(-1)
}

describe("a request in absolute form", () => {
  it("goes to the host of its URL, whatever its Host header names", async () => {
    await using proxy = await startProxy(dial)
    const answer = await get(proxy, `${origin}/a/b?c=d`, "X-Own: kept")
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer).toContain("heard /a/b?c=d")
    expect(lastReceived()).toMatchObject({ method: "GET", url: "/a/b?c=d", body: "" })
    expect(lastReceived()?.headers).toMatchObject({
      host: `site.example:${site.port}`,
      "x-own": "kept",
    })
    expect(proxy.received()).toBeGreaterThan(100)
    expect(proxy.refusals()).toEqual([])
  })

  it("loses its hop-by-hop headers, and so does its response", async () => {
    await using proxy = await startProxy(dial)
    const answer = await send(
      proxy,
      `GET ${origin}/ HTTP/1.1`,
      "Host: 127.0.0.1",
      "Connection: close, X-Mine, Upgrade",
      "X-Mine: 1",
      "Upgrade: websocket",
      "Proxy-Authorization: Basic x",
      "Proxy-Connection: keep-alive",
      "TE: trailers",
    )
    const names = Object.keys(lastReceived()?.headers ?? {})
    expect(names.toSorted()).toEqual(["connection", "host"])
    expect(answer).toContain("x-end: 2")
    expect(answer).not.toContain("x-hop:")
  })

  it("forwards its body, of known or unknown length, with any method", async () => {
    await using proxy = await startProxy(dial)
    const head = ["Host: a", "Connection: close"]
    await send(proxy, `POST ${origin}/ HTTP/1.1`, ...head, "Content-Length: 5", "", "hello")
    expect(lastReceived()).toMatchObject({ method: "POST", body: "hello" })
    for (const method of ["GET", "PUT", "DELETE"]) {
      const chunked = [...head, "Transfer-Encoding: chunked", "", "5", "hello", "0"]
      await send(proxy, `${method} ${origin}/ HTTP/1.1`, ...chunked)
      expect(lastReceived()).toMatchObject({ method, body: "hello" })
    }
    const before = received.length
    expect(await send(proxy, `HEAD ${origin}/ HTTP/1.1`, ...head)).toMatch(/ 200 OK[^]*\r\n\r\n$/)
    expect(received.length).toBe(before + 1)
  })

  it("can follow another request on its connection", async () => {
    await using proxy = await startProxy(dial)
    const one = `GET ${origin}/1 HTTP/1.1\r\nHost: a\r\n\r\n`
    const answers = await send(
      proxy,
      `${one}GET ${origin}/2 HTTP/1.1`,
      "Host: a",
      "Connection: close",
    )
    expect(answers.match(/heard \/\d/g)).toEqual(["heard /1", "heard /2"])
  })

  it("returns a redirect unchanged", async () => {
    await using server = await serve((_, answer) => {
      answer.writeHead(302, { location: "http://127.0.0.1/" }).end()
    })
    await using proxy = await startProxy(dial)
    expect(await get(proxy, `http://site.example:${server.port}/`)).toMatch(
      /^HTTP\/1.1 302 [^]*location: http:\/\/127.0.0.1\//,
    )
    expect(server.count()).toBe(1)
  })
})

describe("a request that is not meant for a proxy", () => {
  it.for(["/", "/a", "*", "https://site.example/", "//site.example/"])(
    "gets 400 for %j",
    async (target) => {
      await using proxy = await startProxy(dial)
      const method = target === "*" ? "OPTIONS" : "GET"
      expect(
        await send(
          proxy,
          `${method} ${target} HTTP/1.1`,
          "Host: site.example",
          "Connection: close",
        ),
      ).toMatch(/^HTTP\/1.1 400 /)
    },
  )

  it.for([
    ["two lengths", ["Content-Length: 4", "Content-Length: 5", "", "12345"]],
    ["a length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked", "", "0"]],
    ["chunks in an odd spelling", ["Transfer-Encoding: xchunked", "", "0"]],
    ["a length that is no number", ["Content-Length: +4", "", "1234"]],
    ["a space before a colon", ["Content-Length : 4", "", "1234"]],
    ["a folded header", ["X-A: 1", " Content-Length: 4", "", "1234"]],
    ["a bare line feed", ["X-A: 1\nX-B: 2"]],
    ["a bare carriage return", ["X-A: 1\rX-B: 2"]],
    ["a NUL", ["X-A: \0"]],
  ] as const)("with %s never arrives", async ([, lines]) => {
    await using proxy = await startProxy(dial)
    const before = received.length
    expect(await send(proxy, `POST ${origin}/ HTTP/1.1`, "Host: a", ...lines)).toMatch(
      /^HTTP\/1.1 400 /,
    )
    expect(received.length).toBe(before)
  })

  it.for([
    "/a HTTP/1.1\r\nX-A: b\r\n\r\nGET /smuggled",
    "/a\rX",
    "/a\nX",
    "/a\tb",
    "/a b",
    "/a%0d%0aX-Smuggled:1%0d%0a%0d%0aGET%20/smuggled",
  ])("with the path %j cannot smuggle a second request or header", async (path) => {
    await using proxy = await startProxy(dial)
    const before = received.length
    await get(proxy, `${origin}${path}`)
    for (const { url, headers } of received.slice(before)) {
      expect(url).not.toMatch(/^\/smuggled/)
      expect(headers).not.toHaveProperty("x-smuggled")
    }
    expect(received.length - before).toBeLessThan(2)
  })

  it("is refused if its head is too large", async () => {
    await using proxy = await startProxy(dial)
    expect(await get(proxy, `${origin}/`, `X-A: ${"a".repeat(70_000)}`)).toMatch(/^HTTP\/1.1 431 /)
  })
})

it("serves requests and tunnels in any order on one connection", async () => {
  await using silent = await serve(() => undefined)
  await using proxy = await startProxy(dial)
  function request(target: string): string {
    return `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`
  }
  function tunnel(target: string): string {
    return `CONNECT ${target} HTTP/1.0\r\n\r\n`
  }
  const pending = request(`http://site.example:${silent.port}/`)
  for (const next of [
    tunnel("10.0.0.1:443"),
    tunnel(`site.example:${site.port}`),
    tunnel("nothing"),
    request("http://10.0.0.1/"),
    "junk\r\n\r\n",
  ]) {
    const socket = connect(proxy.socketPath)
    socket.on("error", () => undefined)
    socket.write(`${pending}${next}${pending}`)
    await sleep(30)
    socket.destroy()
    await pWaitFor(() => silent.open.size === 0)
  }
  expect(await get(proxy, `${origin}/`)).toMatch(/ 200 OK/)
})

it("serves an HTTP/1.0 tool", async () => {
  await using proxy = await startProxy(dial)
  expect(await send(proxy, `GET ${origin}/old HTTP/1.0`)).toContain("heard /old")
  expect(await send(proxy, "CONNECT 10.0.0.1:443 HTTP/1.0")).toMatch(/^HTTP\/1.1 403 Forbidden/)
})

describe("a refusal", () => {
  async function answered(code: FailureCode): Promise<string[]> {
    await using proxy = await startProxy(() => Promise.reject(new EgressError(code, "the reason")))
    const answers = [
      await get(proxy, "http://a.example/"),
      await send(proxy, "CONNECT a.example:443 HTTP/1.1", "Host: a.example"),
    ]
    expect(proxy.refusals()).toMatchObject([{ code }, { code }])
    return answers
  }

  it.for([
    ["url_not_allowed", "403 Forbidden"],
    ["too_slow", "504 Gateway Timeout"],
    ["connection_failed", "502 Bad Gateway"],
  ] as const)(
    "for %s responds %s with its code and sentence, and is recorded",
    async ([code, status]) => {
      for (const answer of await answered(code)) {
        expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`))
        expect(answer).toContain(`\r\nlathe-refused: ${code}\r\n`)
        expect(answer).toContain("The reason.")
      }
    },
  )

  it("follows when a host resets, ends, or does not speak HTTP", async () => {
    await using resetting = await serveBytes((socket) =>
      socket.once("data", () => socket.resetAndDestroy()),
    )
    await using ending = await serveBytes((socket) => socket.once("data", () => socket.end()))
    await using babbling = await serveBytes((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"))
    await using large = await serve((_, answer) => answer.setHeader("a", "a".repeat(70_000)).end())
    await using proxy = await startProxy(dial)
    for (const { port } of [resetting, ending, babbling, large]) {
      expect(await get(proxy, `http://site.example:${port}/`)).toMatch(/^HTTP\/1.1 502 /)
    }
    expect(proxy.refusals()).toMatchObject([
      { code: "connection_failed" },
      { code: "connection_failed" },
      { code: "server_error" },
      { code: "server_error" },
    ])
  })

  it("is kept while among the last hundred", async () => {
    await using proxy = await startProxy(dial)
    for (let port = 0; port < 120; port += 1) await get(proxy, `http://10.0.0.1:${port}/`)
    expect(proxy.refusals()).toHaveLength(100)
  })
})

it("has a socket that only its user may open", async () => {
  const uid = process.getuid?.() === 0 ? 65_534 : null
  await using proxy = await startProxy(dial, { uid })
  const { mode, uid: owner } = await stat(proxy.socketPath)
  expect(mode & 0o777).toBe(0o600)
  expect(owner).toBe(uid ?? process.getuid?.())
  expect(proxy.url).toBe("http://127.0.0.1:3128")
})
