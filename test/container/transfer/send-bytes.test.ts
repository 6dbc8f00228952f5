import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { once } from "node:events"
import { afterEach, beforeEach, expect, test } from "vitest"
import { sendBufferedRequest } from "../../../container/transfer/worker-client.ts"

const SIGNAL = new AbortController().signal

let answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void
let origin: string
const server = createServer((incoming, outgoing) => answer(incoming, outgoing))

beforeEach(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
})

afterEach(() => {
  server.close()
  server.closeAllConnections()
})

function send(
  path = "/",
  bytes: Uint8Array | Blob = Buffer.from("bytes"),
  idleMsMax = 60_000,
): Promise<Response> {
  return sendBufferedRequest(origin + path, {
    method: "POST",
    headers: {},
    bytes,
    signal: SIGNAL,
    idleMsMax,
    socketPath: null,
  })
}

test("a request is sent again if its reused connection turns out to be closed", async () => {
  const asked: string[] = []
  const known = new Set<unknown>()
  answer = (incoming, outgoing) => {
    asked.push(incoming.url ?? "")
    if (known.has(incoming.socket)) return incoming.socket.resetAndDestroy()
    known.add(incoming.socket)
    return outgoing.end("taken")
  }
  await (await send("/first")).text()
  const response = await send("/second")
  expect(await response.text()).toBe("taken")
  expect(asked).toEqual(["/first", "/second", "/second"])
})

test("a request is not sent again if its own new connection breaks", async () => {
  let asked = 0
  answer = (incoming) => {
    asked += 1
    incoming.socket.resetAndDestroy()
  }
  await expect(send()).rejects.toThrow(/ECONNRESET|socket hang up/)
  expect(asked).toBe(1)
})
