import { setTimeout as sleep } from "node:timers/promises"
import type { IncomingMessage } from "node:http"
import { openCaller } from "../local/client/caller.ts"
import { formatMib } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { GIB, junk } from "./junk.ts"
import type { BenchScope } from "./scope.ts"
import { findWorkerd, residentBytes, watchMemory } from "../local/processes/memory.ts"
import { untilFinal, uploadFile } from "../local/client/requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"

const READ_SECONDS = 6
const BYTES_PER_SECOND = 20 * 1024 ** 2
const SETTLE_MS = 1000
const GOAL_BYTES = 32 * 1024 ** 2

/** How workerd's memory grows while a slow client reads a large file by its signed link. */
export async function benchDownload(scope: BenchScope): Promise<Figure[]> {
  const stateDir = await scope.makeFolder()
  const before = await startBenchService(scope, { stateDir })
  const { id } = await uploadFile(before.caller, "junk.bin", junk(GIB))
  await untilFinal(before.caller, `/v1/files/${id}`, { pollMs: 100 })
  await before.stop()
  // A new workerd, since memory that the upload left allocated would hide the download's.
  const service = await startBenchService(scope, { stateDir })
  const workerdPid = findWorkerd(service.pid)
  if (workerdPid === null) {
    console.error("This system does not tell how much memory a process has.")
    return []
  }
  await readFromLink(service, id, 1)
  await sleep(SETTLE_MS)
  const idleBytes = residentBytes(workerdPid) ?? 0
  const memory = watchMemory(workerdPid)
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

/** Follows a file's link and reads this many bytes at a limited rate; the bytes read. */
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
