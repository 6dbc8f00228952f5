import { setTimeout as sleep } from "node:timers/promises"
import { openCaller } from "./caller.ts"
import type { Caller } from "./caller.ts"
import { formatDifference, formatMib, formatMs, formatRatio } from "./figure.ts"
import type { Figure } from "./figure.ts"
import { GIB, junk } from "./junk.ts"
import type { Lab } from "./lab.ts"
import { findWorkerd, residentBytes, watchMemory } from "./memory.ts"
import { PLAIN_PUT_READY, plainPutProgram } from "./plain-put.ts"
import { untilFinal, uploadFile } from "./requests.ts"
import { startBenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const ROUNDS = 2
const SMALL_BYTES = 64 * 1024
const SETTLE_MS = 1000
const PING_MS = 50
const GOAL = { ratio: 0.9, memoryBytes: 32 * 1024 ** 2 }

/** One way to store bytes: the service's, or the plain put that it is compared with. */
type Way = {
  caller: Caller
  workerdPid: number | null
  pingPath: string
  /** Stores bytes and answers what removes them again. */
  store(sizeBytes: number): Promise<() => Promise<void>>
}

type Measured = { bytesPerSecond: number; growthBytes: number; pingMs: number }

/** Throughput and memory of a large upload, beside a plain put of the same bytes into R2. */
export async function benchUpload(lab: Lab): Promise<Figure[]> {
  const ways = [await openService(lab), await openPlainPut(lab)] as const
  const idle = [await warmUp(ways[0]), await warmUp(ways[1])] as const
  const rounds: { service: Measured; plain: Measured }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await measure(ways[0], idle[0])
    rounds.push({ service, plain: await measure(ways[1], idle[1]) })
  }
  const service = summarize(rounds.map((round) => round.service))
  const plain = summarize(rounds.map((round) => round.plain))
  return [
    throughputFigure(service, plain),
    ...(ways[0].workerdPid === null ? [] : [memoryFigure(service, plain)]),
    pingFigure(service, plain),
  ]
}

async function openService(lab: Lab): Promise<Way> {
  const { caller, pid } = await startBenchService(lab)
  return {
    caller,
    workerdPid: findWorkerd(pid),
    pingPath: "/v1/health",
    async store(sizeBytes) {
      const { id } = await uploadFile(caller, "junk.bin", junk(sizeBytes))
      return async () => {
        // Its probe reads all of it once more and must not run beside what is measured next.
        await untilFinal(caller, `/v1/files/${id}`, 100)
        await caller.ask("DELETE", `/v1/files/${id}`)
      }
    },
  }
}

async function openPlainPut(lab: Lab): Promise<Way> {
  const variables = { STATE_DIR: lab.makeFolder() }
  const program = await lab.start(plainPutProgram, new RegExp(`^${PLAIN_PUT_READY}`), variables)
  const caller = openCaller((await program.ready).slice(PLAIN_PUT_READY.length))
  lab.defer(() => caller.close())
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

/** Has everything run once that the upload will use; workerd's resident bytes then. */
async function warmUp(way: Way): Promise<number> {
  const remove = await way.store(SMALL_BYTES)
  await remove()
  await sleep(SETTLE_MS)
  return residentBytes(way.workerdPid) ?? 0
}

async function measure(way: Way, idleBytes: number): Promise<Measured> {
  const memory = watchMemory(way.workerdPid)
  const pings = watchPings(way)
  const { remove, elapsedMs } = await storeTimed(way)
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

async function storeTimed(way: Way) {
  const startedMs = performance.now()
  const remove = await way.store(GIB)
  return { remove, elapsedMs: performance.now() - startedMs }
}

/** Asks something small now and then; the p50 of how long its answer took. */
function watchPings({ caller, pingPath }: Way): { stop(): Promise<number> } {
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
