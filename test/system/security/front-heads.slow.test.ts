import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { exchange, head, readAll, readProblem, statusesIn } from "./raw-http.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

const PUBLIC_HOST = "media.example"
const HEAD_MS_MAX = 20_000
const BODY_MS_MAX = 50_000

let service: TestService
let port: number
let key: string

beforeAll(async () => {
  service = await startService({ PUBLIC_ORIGIN: `https://${PUBLIC_HOST}`, HOST: "::" })
  port = Number(new URL(service.origin).port)
  key = await service.makeKey("one", "paid")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

function own(): string {
  return `Host: 127.0.0.1:${port}`
}

describe.concurrent("a request to a host of the service is served", () => {
  const HOSTS: [string, (at: number) => string][] = [
    ["the address of the connection", (at) => `127.0.0.1:${at}`],
    ["the same without a port", () => "127.0.0.1"],
    ["localhost", (at) => `localhost:${at}`],
    ["localhost in upper case with a dot", (at) => `LOCALHOST.:${at}`],
    ["the loopback address of IPv6", (at) => `[::1]:${at}`],
    ["the same in long form", (at) => `[0:0:0:0:0:0:0:1]:${at}`],
    ["the host of PUBLIC_ORIGIN", () => PUBLIC_HOST],
    ["the same with its port", () => `${PUBLIC_HOST}:443`],
  ]

  test.for(HOSTS)("%s", async ([, make]) => {
    const answer = await exchange(port, head("GET /v1/health HTTP/1.1", `Host: ${make(port)}`))
    expect(statusesIn(answer)).toEqual([200])
  })

  test("in the header, whatever an absolute target contains", async () => {
    const answer = await exchange(port, head("GET http://other/v1/health HTTP/1.1", own()))
    expect(statusesIn(answer)).toEqual([200])
  })

  test("over IPv6", async () => {
    const asked = head("GET /v1/health HTTP/1.1", `Host: [::1]:${port}`)
    expect(statusesIn(await exchange(port, asked, { host: "::1" }))).toEqual([200])
  })
})

describe.concurrent("a request to a foreign host gets a 421", () => {
  const HOSTS: [string, (at: number) => string][] = [
    ["a rebound name that resolves to this machine", (at) => `evil.example:${at}`],
    ["a name below localhost", (at) => `localhost.evil.example:${at}`],
    ["a name below the public one", () => `x.${PUBLIC_HOST}`],
    ["another address than that of the connection", (at) => `10.1.2.3:${at}`],
    ["another port", () => "127.0.0.1:1"],
    ["the default port, if the service uses another one", () => "localhost:80"],
    ["the public host at the port of the machine", (at) => `${PUBLIC_HOST}:${at}`],
  ]

  test.for(HOSTS)("%s", async ([, make]) => {
    const answer = await exchange(port, head("GET /v1/health HTTP/1.1", `Host: ${make(port)}`))
    expect(readProblem(answer)).toEqual([421, "misdirected_request"])
  })

  test("in the header, whatever an absolute target contains", async () => {
    const target = `http://localhost:${port}/v1/health`
    const answer = await exchange(port, head(`GET ${target} HTTP/1.1`, "Host: other.example"))
    expect(readProblem(answer)).toEqual([421, "misdirected_request"])
  })
})

describe.concurrent("a malformed request is refused", () => {
  const CHUNKED = "Transfer-Encoding: chunked"
  const REQUESTS: [string, () => string][] = [
    ["two Hosts", () => head("GET /v1/health HTTP/1.1", own(), own())],
    ["a Host with a user", () => head("GET /v1/health HTTP/1.1", `Host: a@127.0.0.1:${port}`)],
    ["a Host with a path", () => head("GET /v1/health HTTP/1.1", `Host: 127.0.0.1:${port}/x`)],
    ["an asterisk as target", () => head("OPTIONS * HTTP/1.1", own())],
    [
      "an encoding besides chunked",
      () =>
        `${head("POST /v1/files HTTP/1.1", own(), "Transfer-Encoding: gzip, chunked")}0\r\n\r\n`,
    ],
  ]

  test.for(REQUESTS)("%s", async ([, make]) => {
    expect(readProblem(await exchange(port, make()))).toEqual([400, "invalid_request"])
  })

  const NOT_PARSED: [string, () => string][] = [
    ["no Host", () => head("GET /v1/health HTTP/1.1")],
    ["no Host in HTTP/1.0", () => head("GET /v1/health HTTP/1.0")],
    ["an empty Host", () => head("GET /v1/health HTTP/1.1", "Host:")],
    [
      "two lengths",
      () =>
        `${head("POST /v1/files HTTP/1.1", own(), "Content-Length: 5", "Content-Length: 0")}12345`,
    ],
    ["an invalid length", () => head("POST /v1/files HTTP/1.1", own(), "Content-Length: -1")],
    [
      "two encodings",
      () => head("POST /v1/files HTTP/1.1", own(), CHUNKED, "Transfer-Encoding: identity"),
    ],
    [
      "a disguised encoding",
      () => `${head("POST /v1/files HTTP/1.1", own(), "Transfer-Encoding : chunked")}0\r\n\r\n`,
    ],
    ["a folded header", () => head("GET /v1/health HTTP/1.1", own(), "X-A: b", " c: d")],
    ["a header without a colon", () => head("GET /v1/health HTTP/1.1", own(), "nothing")],
    ["no HTTP", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["another version", () => head("GET /v1/health HTTP/9.9", own())],
  ]

  test.for(NOT_PARSED)("%s, by workerd itself", async ([, make]) => {
    const answer = await exchange(port, make())
    expect(answer).toMatch(/^HTTP\/1\.[01] 400 /)
    expect(answer.match(/HTTP\/1\./g)).toHaveLength(1)
  })

  test("the preface of HTTP/2", async () => {
    expect(statusesIn(await exchange(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))).toEqual([])
  })

  test("a chunk without a size", async () => {
    const lines = [own(), `X-API-KEY: ${key}`, "Content-Type: application/json", CHUNKED]
    const answer = await exchange(port, `${head("POST /v1/commands HTTP/1.1", ...lines)}x\r\n`)
    expect(statusesIn(answer).filter((status) => status < 400 || status >= 500)).toEqual([])
  })

  const LARGE: [string, () => string][] = [
    ["one header of 20 KiB", () => head("GET / HTTP/1.1", own(), `X-A: ${"a".repeat(20_480)}`)],
    ["a target of 20 KiB", () => head(`GET /${"a".repeat(20_480)} HTTP/1.1`, own())],
    [
      "101 headers",
      () => head("GET / HTTP/1.1", own(), ...Array.from({ length: 100 }, (_, at) => `X-${at}: a`)),
    ],
  ]

  test.for(LARGE)("%s", async ([, make]) => {
    expect(readProblem(await exchange(port, make()))).toEqual([431, "headers_too_large"])
  })

  test("a head of a MiB, by workerd itself", async () => {
    const lines = Array<string>(20_000).fill(`X: ${"a".repeat(50)}`)
    const answer = await exchange(port, head("GET / HTTP/1.1", own(), ...lines))
    expect(statusesIn(answer)).toEqual([431])
  })

  test("a tunnel", async () => {
    const answer = await exchange(port, head("CONNECT localhost:22 HTTP/1.1", "Host: localhost:22"))
    expect(statusesIn(answer)).toEqual([500])
  })

  test("in the form of RFC 9457 if requested", async () => {
    const answer = await exchange(
      port,
      head("GET / HTTP/1.1", "Host: x", "Accept: application/problem+json"),
    )
    expect(answer).toMatch(/content-type: application\/problem\+json/i)
    expect(readProblem(answer)[0]).toBe(421)
  })
})

test("an unknown expectation is refused with the service's own message", async () => {
  const asked = head("GET /v1/health HTTP/1.1", own(), "Expect: nonsense")
  expect(readProblem(await exchange(port, asked))).toEqual([417, "expectation_failed"])
})

describe.concurrent("a request with any byte gets a response, and the service continues", () => {
  const PLACES: [string, (byte: string) => string][] = [
    ["in a target", (byte) => head(`GET /v1/he${byte}alth HTTP/1.1`, own())],
    ["in the name of a header", (byte) => head("GET /v1/health HTTP/1.1", own(), `X${byte}A: b`)],
    ["in a header", (byte) => head("GET /v1/health HTTP/1.1", own(), `X-A: b${byte}c`)],
    ["in a host", (byte) => head("GET /v1/health HTTP/1.1", `Host: 127.0${byte}.0.1`)],
    ["in a method", (byte) => head(`G${byte}T /v1/health HTTP/1.1`, own())],
  ]

  test.for(PLACES)("%s", async ([, make]) => {
    const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
    const answered = await Promise.all(
      bytes.map(async (byte) => {
        const sent = Buffer.from(make(byte), "latin1")
        return statusesIn(await exchange(port, sent))[0]
      }),
    )
    // Of a method that workerd does not know it says 501 itself.
    const others = answered.filter((status = 500) => status >= 500 && status !== 501)
    expect(others).toEqual([])
    expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200)
  })
})

test("a disconnect after any byte does not disturb the service", async () => {
  const sent = [
    head("CONNECT localhost:22 HTTP/1.1", "Host: localhost:22"),
    head("GET /v1/health HTTP/1.1", "nothing"),
    head("GET /v1/health HTTP/1.1", own()),
    `${head("POST /v1/files HTTP/1.1", own(), "Transfer-Encoding: chunked")}5\r\nhello\r\nx`,
  ]
  for (const bytes of sent) {
    for (let length = 1; length <= bytes.length; length += 1) {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => undefined)
      await once(socket, "connect")
      socket.write(bytes.slice(0, length))
      if (length % 2 === 0) await sleep(1)
      socket.resetAndDestroy()
    }
  }
  expect((await fetch(`${service.origin}/v1/health`)).status).toBe(200)
})

describe.concurrent("bytes hidden behind a request do not reach the Worker as another request", () => {
  function hide(): string {
    return head("GET /v1/openapi.json HTTP/1.1", own())
  }

  test("a body whose headers Connection lists", async () => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const hidden = hide()
      const heads = [
        own(),
        `Connection: content-length, host, keep-alive`,
        `Content-Length: ${hidden.length}`,
      ]
      const answer = await exchange(port, head(`${method} /v1/nothing HTTP/1.1`, ...heads) + hidden)
      expect(statusesIn(answer)).toEqual([401])
    }
  })

  test("a body with a length and an encoding", async () => {
    const lines = [own(), "Content-Length: 5", "Transfer-Encoding: chunked"]
    const first = `${head("POST /v1/nothing HTTP/1.1", ...lines)}3\r\nabc\r\n0\r\n\r\n`
    expect(statusesIn(await exchange(port, first + hide()))).toEqual([401])
  })

  test("a chunked body of a method without a body", async () => {
    const hidden = hide()
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\nX-Trailer: a\r\n\r\n`
    for (const method of ["GET", "DELETE", "OPTIONS"]) {
      const first = head(`${method} /v1/health HTTP/1.1`, own(), "Transfer-Encoding: chunked")
      const answer = await exchange(port, first + chunk)
      expect(statusesIn(answer)).toEqual([method === "GET" ? 200 : 405])
    }
  })
})

describe.concurrent("a client that is too slow is disconnected", () => {
  const SLOW: [string, () => string, string][] = [
    ["in its head", () => `GET /v1/health HTTP/1.1\r\n${own()}\r\nX-A: `, "b"],
    ["before its head", () => "", ""],
  ]

  test.for(SLOW)("%s", { timeout: 2 * HEAD_MS_MAX }, async ([, make, drip]) => {
    const begunMs = Date.now()
    const socket = connect(port, "127.0.0.1")
    socket.write(make())
    const dripping = setInterval(() => socket.write(drip), 500)
    socket.once("close", () => clearInterval(dripping))
    const answer = await readAll(socket, 2 * HEAD_MS_MAX)
    expect(answer).toBe("")
    expect(Date.now() - begunMs).toBeLessThan(HEAD_MS_MAX)
  })

  test("in a body that was refused", { timeout: 2 * BODY_MS_MAX }, async () => {
    const begunMs = Date.now()
    const socket = connect(port, "127.0.0.1")
    socket.write(head("POST /v1/files HTTP/1.1", own(), "Content-Length: 100000"))
    const dripping = setInterval(() => socket.write("b"), 500)
    socket.once("close", () => clearInterval(dripping))
    expect(statusesIn(await readAll(socket, BODY_MS_MAX))).toEqual([401])
    expect(Date.now() - begunMs).toBeLessThan(BODY_MS_MAX)
  })
})
