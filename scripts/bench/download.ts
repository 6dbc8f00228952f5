import { setTimeout as sleep } from "node:timers/promises"
import type { IncomingMessage } from "node:http"
import { createApiCaller } from "../cli/client/caller.ts"
import type { ApiCaller } from "../cli/client/caller.ts"
import { formatMib, formatRatio } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import { BYTES_PER_GIB, makeIncompressibleBody } from "./incompressible-body.ts"
import { MULTIPART_STORE_PATH, startPlainR2Worker } from "./plain-r2.ts"
import type { BenchResources } from "./scope.ts"
import { findWorkerdPid, readResidentBytes, samplePeakMemory } from "../cli/processes/memory.ts"
import { waitUntilFinal, uploadFile } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { measureAlternatingMedians, measureMs } from "./statistics.ts"

const READ_SECONDS = 6
const BYTES_PER_SECOND = 20 * 1024 ** 2
const SETTLE_MS = 1000
/** Path of the reference object, which has as many parts as the measured file. */
const PLAIN_PATH = `${MULTIPART_STORE_PATH}junk`
const ROUNDS = 4
const GOAL = { growthBytes: 32 * 1024 ** 2, ratio: 0.9 }

/**
 * Measures how much workerd's memory grows while a slow client reads a large file from its signed
 * link, and how fast a quick client reads the file. Compares both with a plain `get` of the same
 * bytes from R2.
 */
export async function benchDownload(scope: BenchResources): Promise<BenchResult[]> {
  const stateDir = await scope.makeFolder()
  const before = await startBenchService(scope, { stateDir })
  const { id } = await uploadFile(before.caller, "junk.bin", makeIncompressibleBody(BYTES_PER_GIB))
  await waitUntilFinal(before.caller, `/v1/files/${id}`, { pollMs: 100 })
  await before.stop()
  // Restarts workerd, because memory of the upload that is still allocated would hide memory of the
  // download.
  const service = await startBenchService(scope, { stateDir })
  const workerdPid = findWorkerdPid(service.pid)
  if (workerdPid === null) {
    console.error("This system does not tell how much memory a process has.")
    return []
  }
  await readFromLink(service, id, 1)
  await sleep(SETTLE_MS)
  const idleBytes = readResidentBytes(workerdPid) ?? 0
  const memory = samplePeakMemory(workerdPid)
  const readBytes = await readFromLink(service, id, READ_SECONDS * BYTES_PER_SECOND)
  const growthBytes = memory.stop().peakBytes - idleBytes
  return [
    await throughputFigure(scope, service, id),
    {
      name: `download: workerd's memory, slow client (${formatMib(readBytes)} of 1 GiB), peak`,
      measured: formatMib(idleBytes + growthBytes),
      reference: `${formatMib(idleBytes)} idle`,
      comparison: `+${formatMib(growthBytes)}`,
      goal: `<= +${formatMib(GOAL.growthBytes)}`,
      isMet: growthBytes <= GOAL.growthBytes,
    },
  ]
}

async function throughputFigure(
  scope: BenchResources,
  service: BenchService,
  id: string,
): Promise<BenchResult> {
  const plain = await startPlainR2Worker(scope)
  const body = { type: "application/octet-stream", ...makeIncompressibleBody(BYTES_PER_GIB) }
  await plain.caller.ask("PUT", PLAIN_PATH, body)
  const link = await findLink(service, id)
  const client = createApiCaller(link.origin)
  scope.defer(() => client.close())
  const tookMs = await measureAlternatingMedians(
    { warmUp: 1, counted: ROUNDS },
    async () => await measureMs(async () => await readWhole(client, link.pathname)),
    async () => await measureMs(async () => await readWhole(plain.caller, PLAIN_PATH)),
  )
  const bytesPerSecond = (BYTES_PER_GIB * 1000) / tookMs.measured
  const ofPlain = (BYTES_PER_GIB * 1000) / tookMs.reference
  const ratio = bytesPerSecond / ofPlain
  return {
    name: "download: 1 GiB by a link, a second",
    measured: formatMib(bytesPerSecond),
    reference: `${formatMib(ofPlain)} plain get`,
    comparison: formatRatio(ratio),
    goal: `>= ${GOAL.ratio} x`,
    isMet: ratio >= GOAL.ratio,
  }
}

async function readWhole(client: ApiCaller, path: string): Promise<void> {
  let read = 0
  for await (const chunk of await client.open(path)) {
    if (chunk instanceof Uint8Array) read += chunk.byteLength
  }
  if (read !== BYTES_PER_GIB) throw new Error(`${path} has ${read} bytes`)
}

/** Requests the content of a file. Returns the signed link to which the response redirects. */
async function findLink(service: BenchService, id: string): Promise<URL> {
  const redirect = await service.caller.open(`/v1/files/${id}/junk.bin`)
  redirect.resume()
  return new URL(redirect.headers.location ?? "")
}

/** Reads about `bytes` bytes of a file at a limited rate. Returns the number of bytes read. */
async function readFromLink(service: BenchService, id: string, bytes: number): Promise<number> {
  const link = await findLink(service, id)
  const client = createApiCaller(link.origin)
  try {
    const incoming = await client.open(link.pathname)
    if (incoming.statusCode !== 200) throw new Error(`the link answered ${incoming.statusCode}`)
    return await readSlowly(incoming, bytes)
  } finally {
    client.close()
  }
}

async function readSlowly(incoming: IncomingMessage, bytes: number): Promise<number> {
  const startedMs = performance.now()
  let read = 0
  for await (const chunk of incoming) {
    if (chunk instanceof Uint8Array) read += chunk.byteLength
    if (read >= bytes) break
    const aheadMs = (read / BYTES_PER_SECOND) * 1000 - (performance.now() - startedMs)
    if (aheadMs > 1) await sleep(aheadMs)
  }
  return read
}
