import { request } from "node:http"
import type { IncomingMessage, RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, describe, expect, it, vi } from "vitest"
import { startLoopbackServer } from "../../../scripts/cli/loopback-server.ts"
import { makeOutgoingRequestHandler } from "../../../scripts/start/worker/outbound.ts"
import type { HostResolver } from "../../../container/egress/resolve-host.ts"
import { OUTBOUND_ERROR_HEADER } from "../../../src/contract/protocol.ts"

const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())

async function listen(listener: RequestListener): Promise<number> {
  return opened.use(await startLoopbackServer(listener)).port
}

/** Asks for a URL by way of the handler; the body is sent once the answer is awaited. */
async function fetchBy(
  url: string,
  options: {
    allowed?: string[]
    refusesPublicHosts?: boolean
    resolve?: HostResolver
    body?: Uint8Array
  } = {},
): Promise<IncomingMessage> {
  const { allowed: allowedHosts = [], body, ...rest } = options
  const handler = makeOutgoingRequestHandler({ allowedHosts, ...rest })
  const port = await listen((incoming, answer) => void handler(incoming, answer))
  const headers = { "mf-loopback": "x", "x-own": "kept" }
  const outgoing = request({ port, host: "127.0.0.1", path: url, method: "POST", headers })
  outgoing.end(body)
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject)
  })
  return await answer
}

/** Stands in for the name servers: every host has these addresses. */
function to(...addresses: string[]): HostResolver {
  const found = addresses.map(
    (address) => ({ address, family: address.includes(":") ? 6 : 4 }) as const,
  )
  return () => Promise.resolve(found)
}

async function errorOf(url: string, options: Parameters<typeof fetchBy>[1] = {}): Promise<string> {
  const answer = await fetchBy(url, options)
  answer.resume()
  return String(answer.headers[OUTBOUND_ERROR_HEADER])
}

describe("the outbound handler", () => {
  it("refuses other hosts before a lookup if no public host is allowed", async () => {
    const resolve = vi.fn<HostResolver>(to("127.0.0.1"))
    const error = await errorOf("https://host.example/", { refusesPublicHosts: true, resolve })
    expect(error).toBe("this service calls no public host")
    expect(resolve).not.toHaveBeenCalled()
    const port = await listen((_, answer) => answer.end("heard"))
    const allowed = [`127.0.0.1:${port}`]
    const url = `http://127.0.0.1:${port}/`
    expect(await text(await fetchBy(url, { refusesPublicHosts: true, allowed }))).toBe("heard")
  })

  it("refuses private addresses and names without a lookup", async () => {
    const urls = [
      "http://127.0.0.1/",
      "http://2130706433/",
      "http://[::1]/",
      "http://[::ffff:10.0.0.1]/",
      "http://[64:ff9b::a00:1]/",
      "http://169.254.169.254/latest/meta-data",
      "http://100.64.0.1/",
      "http://0.0.0.0/",
      "http://localhost/",
      "http://service.internal/",
    ]
    for (const url of urls) expect(await errorOf(url)).toContain("expected a public host")
    expect(await errorOf("ftp://a.example/")).toContain("http or https")
  })

  it("refuses a host with any address that is not public", async () => {
    const mixed = to("93.184.216.34", "10.0.0.8")
    expect(await errorOf("http://mixed.example/", { resolve: mixed })).toContain(
      "resolves to a private address",
    )
    const mapped = to("::ffff:127.0.0.1")
    expect(await errorOf("http://mapped.example/", { resolve: mapped })).toContain(
      "resolves to a private address",
    )
    expect(await errorOf("http://none.example/", { resolve: to() })).toContain("has no address")
  })

  it("connects to the checked address, under the host's own name", async () => {
    let seen: IncomingMessage | undefined
    const port = await listen((incoming, answer) => {
      seen = incoming
      answer.setHeader(OUTBOUND_ERROR_HEADER, "forged").end("hello")
    })
    const host = `allowed.example:${port}`
    const answer = await fetchBy(`http://${host}/a?b=c`, {
      allowed: [host],
      resolve: to("127.0.0.1"),
    })
    expect(await text(answer)).toBe("hello")
    expect(answer.headers).not.toHaveProperty(OUTBOUND_ERROR_HEADER)
    expect(seen?.url).toBe("/a?b=c")
    expect(seen?.headers).toMatchObject({ host, "x-own": "kept" })
    expect(seen?.headers).not.toHaveProperty("mf-loopback")
  })

  it("returns a redirect and does not follow it", async () => {
    let calls = 0
    const port = await listen((_incoming, answer) => {
      calls += 1
      answer.writeHead(302, { location: "/elsewhere" }).end()
    })
    const answer = await fetchBy(`http://127.0.0.1:${port}/`, { allowed: ["127.0.0.1"] })
    answer.resume()
    expect([answer.statusCode, answer.headers.location, calls]).toEqual([302, "/elsewhere", 1])
  })

  it("reports a refused connection", async () => {
    expect(await errorOf("http://127.0.0.1:9/", { allowed: ["127.0.0.1:9"] })).toBe(
      '"127.0.0.1" refused the connection',
    )
  })

  it("transfers large bodies both ways, at the pace of a slow reader", async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, "ab")
    const port = await listen((incoming, answer) => void incoming.pipe(answer))
    const answer = await fetchBy(`http://127.0.0.1:${port}/`, { allowed: ["127.0.0.1"], body })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer) {
      if (chunk instanceof Uint8Array) chunks.push(chunk)
      if (chunks.length % 32 === 0) await sleep(1)
    }
    expect(Buffer.concat(chunks).equals(body)).toBe(true)
  })

  it("stops reading from a host while its reader pauses, and disconnects when the reader leaves", async () => {
    let sentBytes = 0
    const gone = Promise.withResolvers<void>()
    const port = await listen((_incoming, answer) => {
      answer.once("close", gone.resolve)
      function send() {
        while (!answer.destroyed && answer.write(Buffer.alloc(65_536))) sentBytes += 65_536
      }
      answer.on("drain", send)
      send()
    })
    const answer = await fetchBy(`http://127.0.0.1:${port}/`, { allowed: ["127.0.0.1"] })
    await sleep(300)
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024)
    answer.destroy()
    await gone.promise
  })
})

it("leaves the request intact if the host is unreachable", async () => {
  // No packet goes to this address: there is no connection to a broadcast one.
  const resolve = to("255.255.255.255")
  const handler = makeOutgoingRequestHandler({ allowedHosts: ["host.example:8080"], resolve })
  const sockets: unknown[] = []
  const port = await listen((incoming, answer) => {
    answer.once("finish", () => sockets.push(incoming.socket))
    void handler(incoming, answer)
  })
  const path = "http://host.example:8080/"
  const outgoing = request({ port, host: "127.0.0.1", path, method: "POST" })
  outgoing.end("{}")
  const answer = await new Promise<IncomingMessage>((done, failed) => {
    outgoing.once("response", done).once("error", failed)
  })
  expect(answer.headers[OUTBOUND_ERROR_HEADER]).toMatch(
    /^the connection to "host.example" failed \(E/,
  )
  await text(answer)
  expect(sockets).toEqual([expect.anything()])
})
