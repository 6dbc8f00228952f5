import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { z } from "zod"
import { jsonBody } from "./caller.ts"
import { formatMib, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { GIB, junk } from "./junk.ts"
import { findRunner, watchMemory } from "./memory.ts"
import { openPlainPut } from "./plain-put-target.ts"
import type { BenchScope } from "./scope.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const ROUNDS = 2
const SMALL_BYTES = 64 * 1024
const GOAL = { ratio: 0.8, memoryBytes: 150 * 1024 ** 2 }

const created = z.object({ id: z.string() })

/** Throughput and memory of a large import from loopback, beside a plain put of the same bytes. */
export async function benchImport(scope: BenchScope): Promise<Figure[]> {
  const source = await openSource(scope)
  const settings = { ALLOWED_PRIVATE_HOSTS: new URL(source).host }
  const service = await startBenchService(scope, { settings })
  const plain = await openPlainPut(scope)
  await importTimed(service, `${source}/${SMALL_BYTES}/small.bin`)
  await (
    await plain.store(SMALL_BYTES)
  )()
  const memory = watchMemory(findRunner(service.pid))
  const tookMs: { service: number; plain: number; curl: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const url = `${source}/${GIB}/round-${round}.bin`
    const imported = await importTimed(service, url)
    await imported.remove()
    const stored: { remove?: () => Promise<void> } = {}
    const plainMs = await timeMs(async () => {
      stored.remove = await plain.store(GIB)
    })
    await stored.remove?.()
    tookMs.push({ service: imported.tookMs, plain: plainMs, curl: await curlTimed(scope, url) })
  }
  const { peakBytes } = memory.stop()
  return [throughputFigure(tookMs), ...(peakBytes === 0 ? [] : [memoryFigure(peakBytes)])]
}

/** Serves files of as many bytes as the path says, which can be resumed. */
async function openSource(scope: BenchScope): Promise<string> {
  const file = junk(GIB)
  const server = createServer((incoming, answer) => {
    const sizeBytes = Number(incoming.url?.split("/")[1])
    answer.writeHead(200, {
      "content-type": "application/octet-stream",
      "content-length": sizeBytes,
      etag: '"junk"',
    })
    const chunks = sizeBytes === GIB ? file.chunks : junk(sizeBytes).chunks
    void pipeline(Readable.from(chunks), answer).catch(() => undefined)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  scope.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

/** Imports a file; the time from the request until it is stored, without its probe. */
async function importTimed({ caller, whenLogged }: BenchService, url: string) {
  const startedAt = Date.now()
  const answer = await caller.ask("POST", "/v1/files", jsonBody({ file_url: url }))
  const { id } = created.parse(JSON.parse(answer.text))
  const endedAt = await whenLogged("task.ended", id)
  return {
    tookMs: endedAt - startedAt,
    remove: async () => void (await caller.ask("DELETE", `/v1/files/${id}`)),
  }
}

async function curlTimed(scope: BenchScope, url: string): Promise<number> {
  const path = join(await scope.makeFolder(), "junk.bin")
  const words = ["--silent", "--fail", "--output", path, url]
  return await timeMs(() => promisify(execFile)("curl", words))
}

function throughputFigure(tookMs: { service: number; plain: number; curl: number }[]): Figure {
  const service = median(tookMs.map((each) => each.service))
  const plain = median(tookMs.map((each) => each.plain))
  const curl = median(tookMs.map((each) => each.curl))
  const ratio = plain / service
  return {
    name: "import: 1 GiB by file_url, a second",
    measured: formatRate(service),
    reference: `${formatRate(plain)} plain put (${formatRate(curl)} curl to a file)`,
    comparison: formatRatio(ratio),
    goal: `>= ${GOAL.ratio} x`,
    isMet: ratio >= GOAL.ratio,
  }
}

function formatRate(tookMs: number): string {
  return formatMib((GIB * 1000) / tookMs)
}

function memoryFigure(peakBytes: number): Figure {
  return {
    name: "import: the runner's memory, peak",
    measured: formatMib(peakBytes),
    reference: "",
    comparison: "",
    goal: `< ${formatMib(GOAL.memoryBytes)}`,
    isMet: peakBytes < GOAL.memoryBytes,
  }
}
