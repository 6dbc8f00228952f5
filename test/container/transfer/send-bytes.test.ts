import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { once } from "node:events"
import { afterEach, beforeEach, expect, test } from "vitest"
import { sendBytes } from "../../../container/transfer/send-bytes.ts"

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
  return sendBytes(origin + path, {
    method: "POST",
    headers: {},
    bytes,
    signal: SIGNAL,
    idleMsMax,
    socketPath: null,
  })
}

test("an answer without a body is one", async () => {
  answer = (_, outgoing) => outgoing.writeHead(204).end()
  const response = await send()
  expect([response.status, await response.text()]).toEqual([204, ""])
})

test("a Blob is sent with its length", async () => {
  answer = (incoming, outgoing) => incoming.pipe(outgoing)
  const lengths: (string | undefined)[] = []
  server.once("request", ({ headers }) => lengths.push(headers["content-length"]))
  expect(await (await send("/", new Blob(["of ", "pieces"]))).text()).toBe("of pieces")
  expect(lengths).toEqual(["9"])
})

test.for([Buffer.from("bytes"), new Blob(["bytes"])])(
  "a request fails on whose connection nothing moves",
  async (bytes) => {
    answer = () => undefined
    await expect(send("/", bytes, 100)).rejects.toThrow("Nothing moved for 0.1 seconds.")
  },
)

test("a request is sent again where a connection that was kept turns out to be closed", async () => {
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

test("a request is sent once where its own connection breaks", async () => {
  let asked = 0
  answer = (incoming) => {
    asked += 1
    incoming.socket.resetAndDestroy()
  }
  await expect(send()).rejects.toThrow(/ECONNRESET|socket hang up/)
  expect(asked).toBe(1)
})
