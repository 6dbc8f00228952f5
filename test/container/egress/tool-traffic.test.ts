import { once } from "node:events"
import { access } from "node:fs/promises"
import { connect, Socket } from "node:net"
import { buffer, text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { afterAll, describe, expect, it } from "vitest"
import { createToolConnections } from "../../../container/egress/tool-traffic.ts"
import type { ToolProxy } from "../../../container/egress/tool-proxy.ts"
import { get, gone, openTunnel, send, serveBytes, startProxy, testDial, to } from "./lab.ts"
import type { TestServer } from "./lab.ts"

const MIB = 1024 * 1024
const opened = new AsyncDisposableStack()
afterAll(async () => await opened.disposeAsync())
const dial = testDial({ allowedHosts: ["site.example"], resolve: to("127.0.0.1") })
const { signal } = new AbortController()

/** Starts a server that sends without end, as fast as its reader; counts the bytes sent. */
async function serveEndlessly(): Promise<TestServer & { sentBytes(): number }> {
  let sentBytes = 0
  const server = await serveBytes((socket) => {
    const chunk = Buffer.alloc(65_536)
    function fill() {
      while (!socket.destroyed && socket.write(chunk)) sentBytes += chunk.length
    }
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      socket.on("drain", fill)
      fill()
    })
  })
  return opened.use({ ...server, sentBytes: () => sentBytes })
}

/** Sends a request through the proxy or a tunnel, and does not read the response. */
async function ask(proxy: ToolProxy, port: number, way: string): Promise<Socket> {
  if (way === "a tunnel") {
    const socket = openTunnel(proxy, `site.example:${port}`)
    await once(socket, "readable")
    socket.write("GET / HTTP/1.1\r\n\r\n")
    return socket
  }
  const socket = connect(proxy.socketPath)
  socket.on("error", () => undefined)
  socket.write(`GET http://site.example:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(socket, "readable")
  return socket
}

describe.for(["a request", "a tunnel"])("%s", (way) => {
  it("reads from the host at the pace of its reader", async () => {
    const endless = await serveEndlessly()
    await using proxy = await startProxy(dial)
    const socket = await ask(proxy, endless.port, way)
    await sleep(300)
    const stopped = endless.sentBytes()
    expect(stopped).toBeLessThan(32 * MIB)
    expect(proxy.received()).toBeLessThan(4 * MIB)
    await sleep(100)
    expect(endless.sentBytes()).toBe(stopped)
    socket.destroy()
    await pWaitFor(() => endless.open.size === 0)
  })

  it("is cut with all others once too much comes in, and no new one opens", async () => {
    const endless = await serveEndlessly()
    await using idle = await serveBytes(() => undefined)
    await using proxy = await startProxy(dial, { bytesMax: 2 * MIB })
    const other = openTunnel(proxy, `site.example:${idle.port}`)
    await once(other, "readable")
    const socket = await ask(proxy, endless.port, way)
    const read = await buffer(socket).catch(() => Buffer.alloc(0))
    expect(read.length).toBeLessThan(3 * MIB)
    expect(proxy.isTooLarge()).toBe(true)
    expect(proxy.received()).toBeGreaterThan(2 * MIB)
    expect(proxy.received()).toBeLessThan(3 * MIB)
    await text(other).catch(() => "")
    await pWaitFor(() => endless.open.size === 0 && idle.open.size === 0)
    expect(await get(proxy, `http://site.example:${endless.port}/`)).toMatch(/403[^]*too_large/)
    expect(await send(proxy, `CONNECT site.example:${endless.port} HTTP/1.1`, "Host: a")).toMatch(
      /403[^]*too_large/,
    )
    expect([endless.count(), idle.count()]).toEqual([1, 1])
  })

  it("closes completely when the signal aborts", async () => {
    const endless = await serveEndlessly()
    const stop = new AbortController()
    await using proxy = await startProxy(dial, { signal: stop.signal })
    const sockets = [await ask(proxy, endless.port, way), await ask(proxy, endless.port, way)]
    const closed = sockets.map(gone)
    expect(endless.open.size).toBe(2)
    stop.abort()
    await Promise.all(closed)
    await pWaitFor(() => endless.open.size === 0)
    await proxy[Symbol.asyncDispose]()
    await expect(access(proxy.socketPath)).rejects.toThrow("ENOENT")
  })
})

describe("a tunnel", () => {
  it("carries bytes both ways until both sides end, also those sent with its request", async () => {
    await using echo = await serveBytes((socket) => void socket.pipe(socket))
    await using proxy = await startProxy(dial)
    const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
    socket.end(
      `CONNECT site.example:${echo.port} HTTP/1.1\r\nHost: a\r\n\r\n${"early".repeat(1e5)}`,
    )
    const [head, body] = (await text(socket)).split("\r\n\r\n")
    expect(head).toBe("HTTP/1.1 200 Connection established")
    expect(body).toBe("early".repeat(1e5))
    expect(proxy.received()).toBe(5e5)
    await pWaitFor(() => echo.open.size === 0)
  })

  it("gives a slow reader all bytes that the host sent before its end", async () => {
    const sent = Buffer.alloc(4 * MIB, "abc")
    await using server = await serveBytes((socket) => void socket.end(sent))
    await using proxy = await startProxy(dial)
    const socket = openTunnel(proxy, `site.example:${server.port}`)
    await once(socket, "readable")
    await sleep(200)
    const all = await buffer(socket)
    expect(all.subarray(-sent.length).equals(sent)).toBe(true)
    socket.end()
    await pWaitFor(() => server.open.size === 0)
  })

  it("ends if the host resets", async () => {
    await using server = await serveBytes((socket) =>
      socket.once("data", () => socket.resetAndDestroy()),
    )
    await using proxy = await startProxy(dial)
    const socket = openTunnel(proxy, `site.example:${server.port}`)
    await once(socket, "readable")
    socket.write("hello")
    expect(await text(socket).catch(() => "")).toMatch(/^(?:HTTP\/1.1 200 |$)/)
  })
})

it("cancels a connection attempt when its client leaves, or when it closes", async () => {
  const pending: AbortSignal[] = []
  const proxy = await startProxy(async (_url, aborted) => {
    pending.push(aborted)
    await once(aborted, "abort")
    throw aborted.reason
  })
  const request = connect(proxy.socketPath)
  request.write("GET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n")
  await pWaitFor(() => pending.length === 1)
  request.destroy()
  await pWaitFor(() => pending[0]?.aborted === true)
  const tunnel = openTunnel(proxy, "a.example:443")
  await pWaitFor(() => pending.length === 2)
  await proxy[Symbol.asyncDispose]()
  expect(pending[1]?.aborted).toBe(true)
  expect(await text(tunnel).catch(() => "")).toBe("")
  expect(proxy.refusals()).toEqual([])
})

it("allows 64 connections at a time, by requests and tunnels", async () => {
  await using silent = await serveBytes(() => undefined)
  await using proxy = await startProxy(dial)
  const socket = connect(proxy.socketPath)
  const one = `GET http://site.example:${silent.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`
  socket.write(one.repeat(100))
  await pWaitFor(() => proxy.refusals().length === 36)
  await pWaitFor(() => silent.open.size === 64)
  socket.destroy()
  await pWaitFor(() => silent.open.size === 0)
  const tunnels = Array.from({ length: 70 }, () => openTunnel(proxy, `site.example:${silent.port}`))
  const ended = tunnels.map((tunnel) => text(tunnel).catch(() => ""))
  await pWaitFor(() => tunnels.filter(({ closed }) => closed).length === 6)
  await pWaitFor(() => silent.open.size === 64)
  await proxy[Symbol.asyncDispose]()
  await Promise.all(ended)
  expect(silent.open.size).toBe(0)
})

it("allows a bounded total of connections", async () => {
  const connections = createToolConnections({
    dial: () => Promise.resolve(new Socket()),
    idleMsMax: 1000,
  })
  const url = new URL("http://a.example/")
  for (let count = 0; count < 20_000; count += 1) {
    const socket = await connections.open(url, signal)
    socket.destroy()
    if (count % 50 === 0) await once(socket, "close")
  }
  await expect(connections.open(url, signal)).rejects.toThrow("20000 connections were made")
})

it("ends an idle connection, and records it if the tool waits for the host", async () => {
  await using site = await serveBytes((socket) => {
    socket.once("data", (data) => {
      if (String(data).includes("/silent")) return
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    })
  })
  const { port } = site
  await using proxy = await startProxy(dial, { idleMsMax: 50 })
  async function ask(path: string): Promise<void> {
    const socket = openTunnel(proxy, `site.example:${port}`)
    await once(socket, "readable")
    socket.write(`GET ${path} HTTP/1.1\r\n\r\n`)
    await gone(socket)
  }
  await ask("/answered")
  expect(proxy.refusals()).toEqual([])
  await ask("/silent")
  expect(proxy.refusals()).toMatchObject([{ code: "too_slow" }])
  expect(await get(proxy, `http://site.example:${port}/silent`)).toMatch(/^HTTP\/1.1 504 /)
  expect(await get(proxy, `http://site.example:${port}/cut`)).toMatch(/^HTTP\/1.1 200 /)
  await pWaitFor(() => proxy.refusals().length === 3)
  await pWaitFor(() => site.open.size === 0)
})
