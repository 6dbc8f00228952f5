import { setTimeout as sleep } from "node:timers/promises"
import { toolEnvironment } from "../local/environment.ts"
import { startProgram, untilReadyLine } from "../local/program.ts"
import { openCaller } from "../local/client/caller.ts"
import type { Caller } from "../local/client/caller.ts"
import { formatDifference, formatMib, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { GIB, junk } from "./junk.ts"
import type { BenchScope } from "./scope.ts"
import { findWorkerd, residentBytes, watchMemory } from "../local/processes/memory.ts"
import { PLAIN_PUT_READY, plainPutProgram } from "./plain-put.ts"
import { untilFinal, uploadFile } from "../local/client/requests.ts"
import { startBenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const ROUNDS = 2
const SMALL_BYTES = 64 * 1024
const SETTLE_MS = 1000
const PING_MS = 50
const GOAL = { ratio: 0.9, memoryBytes: 32 * 1024 ** 2 }

/** Something that stores uploads: the service, or the plain put that it is compared with. */
type UploadTarget = {
  caller: Caller
  workerdPid: number | null
  pingPath: string
  /** Stores bytes and returns what removes them again. */
  store(sizeBytes: number): Promise<() => Promise<void>>
}

type Measured = { bytesPerSecond: number; growthBytes: number; pingMs: number }

/** Throughput and memory of a large upload, beside a plain put of the same bytes into R2. */
export async function benchUpload(scope: BenchScope): Promise<Figure[]> {
  const targets = [await openService(scope), await openPlainPut(scope)] as const
  const idle = [await warmUp(targets[0]), await warmUp(targets[1])] as const
  const rounds: { service: Measured; plain: Measured }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await measure(targets[0], idle[0])
    rounds.push({ service, plain: await measure(targets[1], idle[1]) })
  }
  const service = summarize(rounds.map((round) => round.service))
  const plain = summarize(rounds.map((round) => round.plain))
  return [
    throughputFigure(service, plain),
    ...(targets[0].workerdPid === null ? [] : [memoryFigure(service, plain)]),
    pingFigure(service, plain),
  ]
}

async function openService(scope: BenchScope): Promise<UploadTarget> {
  const { caller, pid } = await startBenchService(scope)
  return {
    caller,
    workerdPid: findWorkerd(pid),
    pingPath: "/v1/health",
    async store(sizeBytes) {
      const { id } = await uploadFile(caller, "junk.bin", junk(sizeBytes))
      return async () => {
        // The probe reads the file once more and must not run during the next measurement.
        await untilFinal(caller, `/v1/files/${id}`, { pollMs: 100 })
        await caller.ask("DELETE", `/v1/files/${id}`)
      }
    },
  }
}

/** Starts a Worker that puts bodies into R2, which what stores bytes is compared with. */
async function openPlainPut(scope: BenchScope): Promise<UploadTarget> {
  const environment = { ...toolEnvironment(), STATE_DIR: await scope.makeFolder() }
  const program = scope.use(startProgram({ words: [plainPutProgram], environment }))
  const line = await untilReadyLine(program, new RegExp(`^${PLAIN_PUT_READY}`))
  const caller = openCaller(line.slice(PLAIN_PUT_READY.length))
  scope.defer(() => caller.close())
  return {
    caller,
    workerdPid: findWorkerd(program.pid),
    pingPath: "/",
    async store(sizeBytes) {
      const path = `/${crypto.randomUUID()}`
      await caller.ask("PUT", path, { type: "application/octet-stream", ...junk(sizeBytes) })
      return async () => void (await caller.ask("DELETE", path))
    },
  }
}

/** Stores a small file to warm everything up; workerd's resident bytes afterwards. */
async function warmUp(target: UploadTarget): Promise<number> {
  const remove = await target.store(SMALL_BYTES)
  await remove()
  await sleep(SETTLE_MS)
  return residentBytes(target.workerdPid) ?? 0
}

async function measure(target: UploadTarget, idleBytes: number): Promise<Measured> {
  const memory = watchMemory(target.workerdPid)
  const pings = watchPings(target)
  const { remove, elapsedMs } = await storeTimed(target)
  const { peakBytes } = memory.stop()
  const pingMs = await pings.stop()
  await remove()
  await sleep(SETTLE_MS)
  return {
    bytesPerSecond: (GIB * 1000) / elapsedMs,
    growthBytes: peakBytes - idleBytes,
    pingMs,
  }
}

async function storeTimed(target: UploadTarget) {
  const startedMs = performance.now()
  const remove = await target.store(GIB)
  return { remove, elapsedMs: performance.now() - startedMs }
}

/** Sends a small request now and then; the median of the response times. */
function watchPings({ caller, pingPath }: UploadTarget): { stop(): Promise<number> } {
  const tookMs: number[] = []
  const stopping = new AbortController()
  async function ping(): Promise<void> {
    while (!stopping.signal.aborted) {
      tookMs.push(await timeMs(() => caller.ask("GET", pingPath)))
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

function summarize(rounds: Measured[]): Measured {
  return {
    bytesPerSecond: median(rounds.map((round) => round.bytesPerSecond)),
    growthBytes: Math.max(...rounds.map((round) => round.growthBytes)),
    pingMs: median(rounds.map((round) => round.pingMs)),
  }
}

function throughputFigure(service: Measured, plain: Measured): Figure {
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

function memoryFigure(service: Measured, plain: Measured): Figure {
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

function pingFigure(service: Measured, plain: Measured): Figure {
  return {
    name: "upload: another request meanwhile, p50",
    measured: formatMs(service.pingMs),
    reference: `${formatMs(plain.pingMs)} plain put`,
    comparison: formatDifference(service.pingMs - plain.pingMs, formatMs),
    goal: "for information",
    isMet: null,
  }
}
