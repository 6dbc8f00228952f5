import { formatMs, formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { readMedia } from "../media.ts"
import { cpuTimeOf, familyTimeMs } from "../process-time.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { repeat, rotateMedians, timeMs } from "../statistics.ts"
import { openBare, probeBare } from "./bare.ts"
import { compareContenders } from "./cases.ts"
import type { Contender } from "./contender.ts"
import { LARGE_BYTES, makeLargeFilm, makeSmallFilm } from "./film.ts"
import { openLathe } from "./lathe.ts"
import type { Lathe } from "./lathe.ts"
import { sayTools } from "./system-tools.ts"

const LARGE = { rounds: { warmUp: 1, counted: 3 }, goalMs: 1500 }
const PROCESSOR_TIMES = 20

/** Short work from its request to its result, beside the system's bare tools on the same film. */
export async function benchShort(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const path = await makeSmallFilm(folder)
  const service = await startBenchService(scope)
  const lathe = await openLathe(service, await readMedia(path))
  const bare = openBare(path)
  const usesBareTools = await sayTools(service)
  return [
    ...(await compareContenders("short", { bare, lathe, usesBareTools, peers: {} })),
    await benchLarge(service, lathe, await makeLargeFilm(folder)),
    ...(await benchProcessor(service, lathe, bare)),
  ]
}

async function benchLarge({ caller }: BenchService, lathe: Lathe, path: string): Promise<Figure> {
  const film = await readMedia(path)
  async function probe(): Promise<number> {
    const startedMs = performance.now()
    const id = await lathe.upload(film)
    const tookMs = performance.now() - startedMs
    await caller.ask("DELETE", `/v1/files/${id}`)
    return tookMs
  }
  const medianOf = await rotateMedians(LARGE.rounds, {
    probe,
    bare: () => timeMs(async () => await probeBare(path)),
  })
  return {
    name: `short: probe of ${LARGE_BYTES / 1e6} MB, upload until ffprobe is there, median`,
    measured: formatSeconds(medianOf("probe")),
    reference: `${formatSeconds(medianOf("bare"))} bare ffprobe`,
    comparison: formatRatio(medianOf("probe") / medianOf("bare")),
    goal: `<= ${formatSeconds(LARGE.goalMs)}`,
    isMet: medianOf("probe") <= LARGE.goalMs,
  }
}

/** What short work takes of the processors: steadier than its time where others are at work. */
async function benchProcessor(
  { pid }: BenchService,
  lathe: Lathe,
  bare: Contender,
): Promise<Figure[]> {
  if (familyTimeMs(pid) === 0) {
    console.error("This system does not tell the processor time of processes.")
    return []
  }
  const [ofService, ofBare] = [() => familyTimeMs(pid), () => cpuTimeOf(process.pid).childrenMs]
  return [
    compareProcessor("a probe", "ffprobe", {
      measuredMs: await processorMs(ofService, lathe.probe),
      referenceMs: await processorMs(ofBare, bare.probe),
    }),
    compareProcessor("a remux of a file that is there, with its download", "ffmpeg", {
      measuredMs: await processorMs(ofService, lathe.remuxStored),
      referenceMs: await processorMs(ofBare, bare.remux),
    }),
  ]
}

async function processorMs(clock: () => number, work: () => Promise<void>): Promise<number> {
  const before = clock()
  await repeat(PROCESSOR_TIMES, work)
  return (clock() - before) / PROCESSOR_TIMES
}

function compareProcessor(
  what: string,
  tool: string,
  { measuredMs, referenceMs }: { measuredMs: number; referenceMs: number },
): Figure {
  return {
    name: `short: processor time of ${what}, mean of ${PROCESSOR_TIMES}`,
    measured: formatMs(measuredMs),
    reference: `${formatMs(referenceMs)} bare ${tool}`,
    comparison: formatRatio(measuredMs / referenceMs),
    goal: "for information",
    isMet: null,
  }
}
