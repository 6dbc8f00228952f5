import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import type { ApiCaller } from "../cli/client/caller.ts"
import { formatDifference, formatMib, formatMs, formatRatio } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import { BYTES_PER_GIB, makeIncompressibleBody } from "./incompressible-body.ts"
import type { BenchResources } from "./scope.ts"
import { findWorkerdPid, readResidentBytes, samplePeakMemory } from "../cli/processes/memory.ts"
import { startPlainR2Worker } from "./plain-r2.ts"
import { waitUntilFinal, uploadFile } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import { median, measureMs } from "./statistics.ts"

const ROUNDS = 2
const SMALL_BYTES = 64 * 1024
const PIECE_BYTES = 64 * 1024 ** 2
const SETTLE_MS = 1000
const PING_MS = 50
/** Number of concurrent uploads, and the size of each in bytes. */
const AT_ONCE = 6
const EACH_BYTES = 256 * 1024 ** 2
const GOAL = { ratio: 0.9, memoryBytes: 32 * 1024 ** 2, atOnceBytes: 96 * 1024 ** 2 }

const createdUpload = z.looseObject({ id: z.uuid() })

/**
 * Server that stores uploads: the service, or the Worker of plain-r2.ts with which the service is
 * compared.
 */
type UploadTarget = {
  caller: ApiCaller
  workerdPid: number | null
  pingPath: string
  /** Stores random bytes. Returns a function that removes the stored bytes. */
  store(sizeBytes: number): Promise<() => Promise<void>>
}

type UploadMeasurement = { bytesPerSecond: number; growthBytes: number; pingMs: number }

/**
 * Measures throughput and memory of a large upload, and compares both with a plain `put` of the
 * same bytes into R2. Also compares the throughput of an upload by the tus protocol with that of
 * the first upload.
 */
export async function benchUpload(scope: BenchResources): Promise<BenchResult[]> {
  const byForm = await openService(scope)
  const byTus = { ...byForm, store: makeTusStore(byForm.caller) }
  const targets = { service: byForm, tus: byTus, plain: await openPlainPut(scope) }
  const idle = { service: await warmUp(targets.service), plain: await warmUp(targets.plain) }
  const rounds: Record<keyof typeof targets, UploadMeasurement>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      service: await measure(targets.service, idle.service),
      tus: await measure(targets.tus, idle.service),
      plain: await measure(targets.plain, idle.plain),
    })
  }
  const service = summarize(rounds.map((round) => round.service))
  const tus = summarize(rounds.map((round) => round.tus))
  const plain = summarize(rounds.map((round) => round.plain))
  return [
    throughputFigure(service, plain),
    tusFigure(tus, service),
    ...(targets.service.workerdPid === null ? [] : [memoryFigure(service, plain)]),
    pingFigure(service, plain),
    ...(await measureManyUploads(scope)),
  ]
}

/** Measures workerd's memory while several callers upload to a service that has just started. */
async function measureManyUploads(scope: BenchResources): Promise<BenchResult[]> {
  const target = await openService(scope)
  const idleBytes = await warmUp(target)
  if (target.workerdPid === null) return []
  const memory = samplePeakMemory(target.workerdPid)
  await Promise.all(Array.from({ length: AT_ONCE }, () => target.store(EACH_BYTES)))
  const { peakBytes } = memory.stop()
  const growthBytes = peakBytes - idleBytes
  return [
    {
      name: `upload: ${AT_ONCE} of ${formatMib(EACH_BYTES)} at once, workerd's memory, peak`,
      measured: formatMib(peakBytes),
      reference: `${formatMib(idleBytes)} idle`,
      comparison: `+${formatMib(growthBytes)}`,
      goal: `<= +${formatMib(GOAL.atOnceBytes)}`,
      isMet: growthBytes <= GOAL.atOnceBytes,
    },
  ]
}

async function openService(scope: BenchResources): Promise<UploadTarget> {
  const { caller, pid } = await startBenchService(scope)
  return {
    caller,
    workerdPid: findWorkerdPid(pid),
    pingPath: "/v1/health",
    async store(sizeBytes) {
      const { id } = await uploadFile(caller, "junk.bin", makeIncompressibleBody(sizeBytes))
      return async () => await removeFile(caller, id)
    },
  }
}

/**
 * Returns a function that stores random bytes by tus, in requests of the maximum size on
 * Cloudflare.
 */
function makeTusStore(caller: ApiCaller): UploadTarget["store"] {
  const version = { "tus-resumable": "1.0.0" }
  return async (sizeBytes) => {
    const created = await caller.ask("POST", "/v1/uploads", undefined, {
      ...version,
      "upload-length": String(sizeBytes),
      "upload-metadata": `filename ${Buffer.from("junk.bin").toString("base64")}`,
    })
    const { id } = createdUpload.parse(JSON.parse(created.text))
    for (let offset = 0; offset < sizeBytes; offset += PIECE_BYTES) {
      const body = makeIncompressibleBody(Math.min(PIECE_BYTES, sizeBytes - offset))
      const headers = { ...version, "upload-offset": String(offset) }
      await caller.ask(
        "PATCH",
        `/v1/uploads/${id}`,
        { type: "application/offset+octet-stream", ...body },
        headers,
      )
    }
    return async () => await removeFile(caller, id)
  }
}

/**
 * Waits for the end of a file's probe, because the probe would disturb the next measurement. Then
 * deletes the file.
 */
async function removeFile(caller: ApiCaller, id: string): Promise<void> {
  await waitUntilFinal(caller, `/v1/files/${id}`, { pollMs: 100 })
  await caller.ask("DELETE", `/v1/files/${id}`)
}

async function openPlainPut(scope: BenchResources): Promise<UploadTarget> {
  const { caller, pid } = await startPlainR2Worker(scope)
  return {
    caller,
    workerdPid: findWorkerdPid(pid),
    pingPath: "/",
    async store(sizeBytes) {
      const path = `/${crypto.randomUUID()}`
      await caller.ask("PUT", path, {
        type: "application/octet-stream",
        ...makeIncompressibleBody(sizeBytes),
      })
      return async () => void (await caller.ask("DELETE", path))
    },
  }
}

/** Stores a small file as a warm-up. Returns workerd's resident memory afterwards, in bytes. */
async function warmUp(target: UploadTarget): Promise<number> {
  const remove = await target.store(SMALL_BYTES)
  await remove()
  await sleep(SETTLE_MS)
  return readResidentBytes(target.workerdPid) ?? 0
}

async function measure(target: UploadTarget, idleBytes: number): Promise<UploadMeasurement> {
  const memory = samplePeakMemory(target.workerdPid)
  const pings = watchPings(target)
  const { remove, elapsedMs } = await storeTimed(target)
  const { peakBytes } = memory.stop()
  const pingMs = await pings.stop()
  await remove()
  await sleep(SETTLE_MS)
  return {
    bytesPerSecond: (BYTES_PER_GIB * 1000) / elapsedMs,
    growthBytes: peakBytes - idleBytes,
    pingMs,
  }
}

async function storeTimed(target: UploadTarget) {
  const startedMs = performance.now()
  const remove = await target.store(BYTES_PER_GIB)
  return { remove, elapsedMs: performance.now() - startedMs }
}

/**
 * Sends a small request every 50 ms. The function `stop` ends the requests, and returns the median
 * of their response times.
 */
function watchPings({ caller, pingPath }: UploadTarget): { stop(): Promise<number> } {
  const tookMs: number[] = []
  const stopping = new AbortController()
  async function ping(): Promise<void> {
    while (!stopping.signal.aborted) {
      tookMs.push(await measureMs(() => caller.ask("GET", pingPath)))
      await sleep(PING_MS)
    }
  }
  const ended = ping()
  return {
    async stop() {
      stopping.abort()
      await ended
      return median(tookMs)
    },
  }
}

function summarize(rounds: UploadMeasurement[]): UploadMeasurement {
  return {
    bytesPerSecond: median(rounds.map((round) => round.bytesPerSecond)),
    growthBytes: Math.max(...rounds.map((round) => round.growthBytes)),
    pingMs: median(rounds.map((round) => round.pingMs)),
  }
}

function throughputFigure(service: UploadMeasurement, plain: UploadMeasurement): BenchResult {
  const ratio = service.bytesPerSecond / plain.bytesPerSecond
  return {
    name: "upload: 1 GiB by POST /files, a second",
    measured: formatMib(service.bytesPerSecond),
    reference: `${formatMib(plain.bytesPerSecond)} plain put`,
    comparison: formatRatio(ratio),
    goal: `>= ${GOAL.ratio} x`,
    isMet: ratio >= GOAL.ratio,
  }
}

function tusFigure(tus: UploadMeasurement, service: UploadMeasurement): BenchResult {
  const ratio = tus.bytesPerSecond / service.bytesPerSecond
  return {
    name: "upload: 1 GiB by tus in pieces of 64 MiB, a second",
    measured: formatMib(tus.bytesPerSecond),
    reference: `${formatMib(service.bytesPerSecond)} POST /files`,
    comparison: formatRatio(ratio),
    goal: `>= ${GOAL.ratio} x`,
    isMet: ratio >= GOAL.ratio,
  }
}

function memoryFigure(service: UploadMeasurement, plain: UploadMeasurement): BenchResult {
  const more = service.growthBytes - plain.growthBytes
  return {
    name: "upload: workerd's memory above idle, peak",
    measured: formatMib(service.growthBytes),
    reference: `${formatMib(plain.growthBytes)} plain put`,
    comparison: formatDifference(more, formatMib),
    goal: `<= +${formatMib(GOAL.memoryBytes)}`,
    isMet: more <= GOAL.memoryBytes,
  }
}

function pingFigure(service: UploadMeasurement, plain: UploadMeasurement): BenchResult {
  return {
    name: "upload: another request meanwhile, p50",
    measured: formatMs(service.pingMs),
    reference: `${formatMs(plain.pingMs)} plain put`,
    comparison: formatDifference(service.pingMs - plain.pingMs, formatMs),
    goal: "for information",
    isMet: null,
  }
}
