import { mkdtemp, rm } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
import { taskAcceptedResponseSchema } from "../../../../src/contract/task.ts"
import { makeFakeIoServer } from "../../../support/runner/io-server.ts"
import { callRunner, makeOrder, waitFor } from "../../harness.ts"
import { serveStreams, startRunnerProcess } from "./runner-process.ts"

const MIB = 1024 ** 2
const SIZE_BYTES = 192 * MIB
/** Limit between the need that the benchmark shows and the size of the import. */
const MEMORY_BYTES_MAX = 170 * MIB

/** Serves the Worker's routes of an import, and discards the bytes. */
async function serveIo() {
  const seen = { storedBytes: 0, ending: "" }
  async function answerTo(incoming: IncomingMessage): Promise<unknown> {
    const path = incoming.url?.split("/").slice(3).join("/") ?? ""
    if (incoming.method === "PUT") {
      for await (const chunk of incoming) seen.storedBytes += Buffer.from(chunk).length
      return { etag: "etag" }
    }
    const body = await new Response(Readable.toWeb(incoming)).text()
    if (path === "reports" && /"kind":"(?:finished|failed)"/.test(body)) seen.ending = body
    return path.endsWith("/resumable") ? { upload_id: "upload", parts: [] } : {}
  }
  const server = await serveStreams((incoming, answer) => {
    void answerTo(incoming).then((body) => answer.end(JSON.stringify(body)))
  })
  return { ...server, seen }
}

test("an import keeps only a few parts in the runner's memory", async () => {
  const workDir = await mkdtemp(join(tmpdir(), "lathe-test-"))
  const block = Buffer.alloc(MIB, 1)
  const source = await serveStreams((_, answer) => {
    answer.writeHead(200, { "content-length": SIZE_BYTES, etag: '"one"' })
    Readable.from(Array.from({ length: SIZE_BYTES / MIB }, () => block)).pipe(answer)
  })
  const worker = await serveIo()
  const runner = await startRunnerProcess(workDir)
  onTestFinished(async () => {
    runner.kill()
    source.close()
    worker.close()
    await rm(workDir, { recursive: true, force: true })
  })
  const work = {
    kind: "import",
    url: `${source.origin}/large.bin`,
    bytes_max: 100 * 1024 ** 3,
    run_seconds_max: 120,
    outputs: [{ key: "file", name: "file" }],
  }
  const of = {
    io: makeFakeIoServer("token"),
    ioOrigin: worker.origin,
    commands: [],
    more: { work },
  }
  const posted = await waitFor(async () => {
    const answer = await callRunner(`${runner.origin}/tasks`, "POST", makeOrder(of))
    return answer.status === 202 && answer
  })
  taskAcceptedResponseSchema.parse(await posted.json())
  let peakBytes = 0
  await waitFor(async () => {
    peakBytes = Math.max(peakBytes, await runner.residentBytes())
    return worker.seen.ending !== ""
  }, 120)
  expect(worker.seen.ending).toContain(`"size_bytes":${SIZE_BYTES}`)
  expect(worker.seen.storedBytes).toBe(SIZE_BYTES)
  expect(peakBytes).toBeLessThan(MEMORY_BYTES_MAX)
}, 180_000)
