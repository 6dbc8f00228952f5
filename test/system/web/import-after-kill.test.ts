import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { findRunner } from "../../faults/processes.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"
import { countParts, countUploads } from "../operate/state-rows.ts"

const MIB = 1024 ** 2
const SIZE_BYTES = 40 * MIB
const BLOCK_BYTES = MIB
/** The source sends as much before it is told to go on. */
const HELD_AT = 30 * MIB

const record = z.object({ id: z.string(), status: z.string() })

/** Bytes of which no two blocks are the same, and no media. */
const bytes = Buffer.alloc(SIZE_BYTES)
for (let at = 0; at < SIZE_BYTES; at += BLOCK_BYTES)
  bytes.fill(`block ${at}\0`, at, at + BLOCK_BYTES)

let service: TestService
let key: string
const ranges: (string | undefined)[] = []
let isHeld = true

async function sendSlowly(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { range } = incoming.headers
  ranges.push(range)
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0)
  answer.writeHead(range === undefined ? 200 : 206, {
    "content-type": "application/octet-stream",
    "content-length": SIZE_BYTES - from,
    etag: '"only-one"',
    ...(range !== undefined && {
      "content-range": `bytes ${from}-${SIZE_BYTES - 1}/${SIZE_BYTES}`,
    }),
  })
  for (let at = from; at < SIZE_BYTES && !answer.destroyed; at += BLOCK_BYTES) {
    while (isHeld && at >= HELD_AT && !answer.destroyed) await sleep(20)
    answer.write(bytes.subarray(at, at + BLOCK_BYTES))
    await sleep(1)
  }
  answer.end()
}

const source = createServer((incoming, answer) => void sendSlowly(incoming, answer))

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    source.listen(0, "127.0.0.1", resolve)
  })
  service = await startService({ ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
  key = await service.makeKey("imports", "paid")
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  source.closeAllConnections()
  source.close()
})

function sourceUrl(): string {
  const address = source.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/large.bin`
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-api-key": key, "content-type": "application/json" }
  return await fetch(service.origin + path, { ...init, headers })
}

test("an import resumes after the stored parts when its runner was killed", async () => {
  const created = await ask("/v1/files", {
    method: "POST",
    body: JSON.stringify({ file_url: sourceUrl() }),
  })
  const { id } = record.parse(await created.json())
  await expect.poll(() => countUploads(service.stateDir), { timeout: 20_000 }).toBe(2)
  await expect
    .poll(() => countParts(service.stateDir), { timeout: 20_000 })
    .toBeGreaterThanOrEqual(3)
  const runner = findRunner(service.pid)
  if (runner === null) throw new Error("there is no runner")
  process.kill(runner, "SIGKILL")
  isHeld = false
  async function isFinal(): Promise<boolean> {
    const found = record.parse(await (await ask(`/v1/files/${id}`)).json())
    return ["success", "failed"].includes(found.status)
  }
  await expect.poll(isFinal, { timeout: 60_000 }).toBe(true)
  const link = await ask(`/v1/files/${id}/large.bin`)
  const stored = Buffer.from(await link.arrayBuffer())
  const [digest, expected] = [stored, bytes].map((each) =>
    createHash("sha256").update(each).digest("hex"),
  )
  expect(digest).toBe(expected)
  expect(ranges.at(-1)).toBe(`bytes=${24 * MIB}-`)
  expect(countUploads(service.stateDir)).toBe(0)
})
