import { once } from "node:events"
import { connect, createServer } from "node:net"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { startTestSite } from "../support/site/site.ts"
import type { TestSite } from "../support/site/site.ts"
import type { SiteRequest } from "../support/site/visit.ts"

/** The web that jobs fetch from: a site behind a way to it that can be broken. */
export type Source = AsyncDisposable & {
  /** As ALLOWED_PRIVATE_HOSTS names it. */
  host: string
  url(path: string): string
  /** All requests of an address, in order. */
  requestsOf(path: string): SiteRequest[]
  /** Breaks all connections. */
  reset(): void
  /** Breaks all connections and takes none for this long. */
  cut(ms: number): Promise<void>
  /** Lets no byte pass for this long. */
  stall(ms: number): Promise<void>
}

export async function openSource(): Promise<Source> {
  const site = await startTestSite()
  const pairs = new Set<[Socket, Socket]>()
  const broken = { isCut: false, isStalled: false }
  const server = createServer((near) => {
    if (broken.isCut) return void near.resetAndDestroy()
    const far = connect(Number(new URL(site.origin).port), "127.0.0.1")
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    near.pipe(far).pipe(near)
    if (broken.isStalled) far.pause()
    for (const socket of pair) {
      socket.on("error", () => undefined)
      socket.once("close", () => {
        pairs.delete(pair)
        near.destroy()
        far.destroy()
      })
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  const host = `127.0.0.1:${address.port}`
  function reset(): void {
    for (const [near] of pairs) near.resetAndDestroy()
  }
  return {
    host,
    url: (path) => `http://${host}${path}`,
    requestsOf: (path) => requestsOf(site, path),
    reset,
    async cut(ms) {
      broken.isCut = true
      reset()
      await sleep(ms)
      broken.isCut = false
    },
    async stall(ms) {
      broken.isStalled = true
      for (const [near, far] of pairs) far.unpipe(near).pause()
      await sleep(ms)
      broken.isStalled = false
      for (const [near, far] of pairs) far.pipe(near)
    },
    async [Symbol.asyncDispose]() {
      reset()
      server.close()
      await once(server, "close")
      await site.close()
    },
  }
}

function requestsOf(site: TestSite, path: string): SiteRequest[] {
  return site.requests.filter((request) => request.path === path)
}
