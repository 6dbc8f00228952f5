import { join } from "node:path"
import pMap from "p-map"
import { readMedia, runBare } from "../../local/client/media.ts"
import { cpuTimeOf, familyTimeMs } from "../../local/processes/process-time.ts"
import { formatDifference, formatMs, formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { repeat, rotateMedians, timeMs } from "../statistics.ts"
import { openBare, openLathe, probeBare, sayTools, systemTools } from "./contenders.ts"
import type { Contender, Lathe } from "./contenders.ts"

// Code is compiled after some dozens of requests, as it is in a service that runs for days.
const ROUNDS = { warmUp: 30, counted: 15 }
const CROWD = { probes: 100, callers: 8, rounds: { warmUp: 1, counted: 3 } }
const LARGE = { rounds: { warmUp: 1, counted: 3 }, goalMs: 1500 }
const LARGE_BYTES = 300_000_000
const PROCESSOR_TIMES = 20

/** Video and audio of some seconds, 89 KB. */
const SMALL =
  "-f lavfi -i testsrc2=size=320x180:rate=16 -f lavfi -i sine=frequency=440 -t 2.8 " +
  "-c:v libx264 -preset veryfast -pix_fmt yuv420p -c:a aac -b:a 64k"
const SCENE =
  "-f lavfi -i testsrc2=size=1280x720:rate=25,noise=alls=20:allf=t -f lavfi -i sine=frequency=440 " +
  "-t 4 -c:v libx264 -preset ultrafast -b:v 8M -pix_fmt yuv420p -c:a aac"

type Case = {
  name: string
  tool: "ffmpeg" | "ffprobe"
  rounds: { warmUp: number; counted: number }
  /** Its longest time as a multiple of the bare tool's. */
  ratio: number
  /** Its longest time beyond the bare tool's, where the service uses the same one. */
  moreMs?: number
  workOf: (contender: Contender) => () => Promise<void>
}

const CASES: Case[] = [
  {
    name: "probe, upload until ffprobe is there, p50",
    tool: "ffprobe",
    rounds: ROUNDS,
    ratio: 0.7,
    moreMs: 25,
    workOf: ({ probe }) => probe,
  },
  {
    name: "upload + remux + download, p50",
    tool: "ffmpeg",
    rounds: ROUNDS,
    ratio: 1.6,
    workOf: ({ remux }) => remux,
  },
  {
    name: "remux + download of a file that is there, p50",
    tool: "ffmpeg",
    rounds: ROUNDS,
    ratio: 0.8,
    workOf: ({ remuxStored }) => remuxStored,
  },
  {
    name: `${CROWD.probes} probes by ${CROWD.callers} callers, median`,
    tool: "ffprobe",
    rounds: CROWD.rounds,
    ratio: 0.7,
    workOf: ({ probe }) => crowd(probe),
  },
]

/** Short work from its request to its result, beside the system's bare tools on the same film. */
export async function benchShort(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const path = await makeFilm(folder, "film.mp4", SMALL.split(" "))
  const service = await startBenchService(scope)
  const lathe = await openLathe(service, await readMedia(path))
  const bare = openBare(path)
  const usesBareTools = await sayTools(service)
  const figures: Figure[] = []
  for (const each of CASES) figures.push(await compareCase(each, { bare, lathe, usesBareTools }))
  return [
    ...figures,
    await benchLarge(service, lathe, await makeLargeFilm(folder)),
    ...(await benchProcessor(service, lathe, bare)),
  ]
}

async function makeFilm(folder: string, name: string, words: string[]): Promise<string> {
  const path = join(folder, name)
  await runBare(systemTools.ffmpeg, ["-v", "error", "-nostdin", "-y", ...words, path], folder)
  return path
}

/** A film of 300 MB, some minutes with their index at the end. */
async function makeLargeFilm(folder: string): Promise<string> {
  const scene = await makeFilm(folder, "scene.mp4", SCENE.split(" "))
  const again = ["-stream_loop", "-1", "-i", scene, "-c", "copy", "-fs", String(LARGE_BYTES)]
  return await makeFilm(folder, "large.mp4", again)
}

/** The work by so many callers at once, so many times in all. */
function crowd(work: () => Promise<void>): () => Promise<void> {
  const times = Array.from({ length: CROWD.probes })
  return async () => void (await pMap(times, work, { concurrency: CROWD.callers }))
}

async function compareCase(
  { name, tool, rounds, ratio: ratioMax, moreMs: moreMsMax, workOf }: Case,
  { bare, lathe, usesBareTools }: { bare: Contender; lathe: Contender; usesBareTools: boolean },
): Promise<Figure> {
  const medianOf = await rotateMedians(rounds, {
    bare: () => timeMs(workOf(bare)),
    lathe: () => timeMs(workOf(lathe)),
  })
  const [measuredMs, referenceMs] = [medianOf("lathe"), medianOf("bare")]
  const [ratio, moreMs] = [measuredMs / referenceMs, measuredMs - referenceMs]
  // Where the service uses the same tool, nothing is to be saved in it.
  const isByMore = usesBareTools && moreMsMax !== undefined
  return {
    name: `short: ${name}`,
    measured: formatMs(measuredMs),
    reference: `${formatMs(referenceMs)} bare ${tool}`,
    comparison: `${formatRatio(ratio)}, ${formatDifference(moreMs, formatMs)}`,
    goal: isByMore ? `<= +${moreMsMax} ms` : `<= ${ratioMax} x`,
    isMet: isByMore ? moreMs <= moreMsMax : ratio <= ratioMax,
  }
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
