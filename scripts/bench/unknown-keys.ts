import { readdirSync } from "node:fs"
import pMap from "p-map"
import { makeKey } from "../../src/crypto/api-key.ts"
import { startServiceProcess } from "../local/service-process.ts"
import { formatDifference, formatMib } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { findWorkerd, residentBytes } from "./memory.ts"
import type { BenchScope } from "./scope.ts"

const REQUESTS = 1000
const CALLERS = 16
const WARM_UPS = 2
const GROWTH_BYTES_MAX = 20e6
/** A path that no route has: what is answered without a key that counts is a 401 or a 429. */
const PATH = "/v1/nothing-is-here"

type Growth = { bytes: number; files: number; refusals: number }

/** What keys that nobody made leave behind, beside as many requests with one that counts. */
export async function benchUnknownKeys(scope: BenchScope): Promise<Figure[]> {
  const service = scope.use(await startServiceProcess({ signal: scope.signal }))
  const { origin, stateDir, pid } = service
  const good = await service.makeKey("good", "paid")
  for (let round = 0; round < WARM_UPS; round += 1) await ask(origin, () => good)
  async function grow(keyOf: () => string): Promise<Growth> {
    const [bytes, files] = [workerdBytes(pid), countFiles(stateDir)]
    const refusals = await ask(origin, keyOf)
    return { bytes: workerdBytes(pid) - bytes, files: countFiles(stateDir) - files, refusals }
  }
  const reference = await grow(() => good)
  const unknown = await grow(makeKey)
  const after = await ask(origin, () => good)
  if (unknown.refusals !== REQUESTS) throw new Error("a key that nobody made was not refused")
  return [
    {
      name: `keys: memory that ${REQUESTS} unknown keys cost`,
      measured: formatMib(unknown.bytes),
      reference: `${formatMib(reference.bytes)} as many requests of one key`,
      comparison: formatDifference(unknown.bytes - reference.bytes, formatMib),
      goal: `<= ${formatMib(GROWTH_BYTES_MAX)}`,
      isMet: unknown.bytes <= GROWTH_BYTES_MAX,
    },
    {
      name: "keys: files that they leave, and refusals of a key that counts from their address",
      measured: `${unknown.files} files, ${after} refusals`,
      reference: `${reference.files} files`,
      comparison: "",
      goal: "0 files, 0 refusals",
      isMet: unknown.files <= 0 && after === 0,
    },
  ]
}

/** Sends requests, and counts those whose key was refused. */
async function ask(origin: string, keyOf: () => string): Promise<number> {
  const statuses = await pMap(
    Array.from({ length: REQUESTS }),
    async () => {
      const answer = await fetch(origin + PATH, { headers: { "x-api-key": keyOf() } })
      await answer.arrayBuffer()
      return answer.status
    },
    { concurrency: CALLERS },
  )
  return statuses.filter((status) => status === 401 || status === 429).length
}

function countFiles(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  // Those beside a database come and go with what is written to it.
  return entries.filter((entry) => entry.isFile() && !/-(?:wal|shm)$/.test(entry.name)).length
}

function workerdBytes(pid: number): number {
  return residentBytes(findWorkerd(pid)) ?? 0
}
