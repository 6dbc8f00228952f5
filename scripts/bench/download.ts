import { setTimeout as sleep } from "node:timers/promises"
import type { IncomingMessage } from "node:http"
import { openCaller } from "../cli/client/caller.ts"
import { formatMib } from "./figure.ts"
import type { BenchFigure } from "./figure.ts"
import { GIB, makeJunkBody } from "./junk.ts"
import type { BenchScope } from "./scope.ts"
import { findWorkerdPid, readResidentBytes, samplePeakMemory } from "../cli/processes/memory.ts"
import { waitUntilFinal, uploadFile } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"

const READ_SECONDS = 6
const BYTES_PER_SECOND = 20 * 1024 ** 2
const SETTLE_MS = 1000
const GOAL_BYTES = 32 * 1024 ** 2

/**
 * Measures how much workerd's memory grows while a slow client reads a large file from its signed
 * link.
 */
export async function benchDownload(scope: BenchScope): Promise<BenchFigure[]> {
  const stateDir = await scope.makeFolder()
  const before = await startBenchService(scope, { stateDir })
  const { id } = await uploadFile(before.caller, "junk.bin", makeJunkBody(GIB))
  await waitUntilFinal(before.caller, `/v1/files/${id}`, { pollMs: 100 })
  await before.stop()
  // Restarts workerd, because memory that is still allocated after the upload would hide that of
  // the download.
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
    {
      name: `download: workerd's memory, slow client (${formatMib(readBytes)} of 1 GiB), peak`,
      measured: formatMib(idleBytes + growthBytes),
      reference: `${formatMib(idleBytes)} idle`,
      comparison: `+${formatMib(growthBytes)}`,
      goal: `<= +${formatMib(GOAL_BYTES)}`,
      isMet: growthBytes <= GOAL_BYTES,
    },
  ]
}

/**
 * Requests a file, follows the redirect to its signed link, and reads about this many bytes at a
 * limited rate. Returns the number of bytes read.
 */
async function readFromLink(service: BenchService, id: string, bytes: number): Promise<number> {
  const redirect = await service.caller.open(`/v1/files/${id}/junk.bin`)
  redirect.resume()
  const link = new URL(redirect.headers.location ?? "")
  const client = openCaller(link.origin)
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
