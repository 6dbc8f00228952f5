import { join } from "node:path"
import pMap from "p-map"
import { readMediaBody, runUnsandboxed } from "../../cli/client/media.ts"
import { readCpuTime, readProcessTreeCpuMs } from "../../cli/processes/process-time.ts"
import { formatDifference, formatMs, formatRatio, formatSeconds } from "../figure.ts"
import type { BenchResult } from "../figure.ts"
import type { BenchResources } from "../scope.ts"
import { startBenchService } from "../service.ts"
import type { BenchService } from "../service.ts"
import { runRepeatedly, measureMediansInRotation, measureMs } from "../statistics.ts"
import {
  createSystemToolsContender,
  startLatheContender,
  runSystemFfprobe,
  printAndCompareFfmpegVersions,
  systemToolPaths,
} from "./contenders.ts"
import type { BenchContender, LatheContender } from "./contenders.ts"

// Warms up with 30 rounds, because V8 compiles a function only after some dozens of calls.
const ROUNDS = { warmUp: 30, counted: 15 }
const CROWD = { probes: 100, callers: 8, rounds: { warmUp: 1, counted: 3 } }
const LARGE = { rounds: { warmUp: 1, counted: 3 }, goalMs: 1500 }
const LARGE_BYTES = 300_000_000
const PROCESSOR_TIMES = 20

/** Arguments of ffmpeg that make a video with audio of 2.8 seconds and 89 KB. */
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
  /** Maximum time as a multiple of the time that the tool alone takes, without the service. */
  ratio: number
  /**
   * Maximum time beyond that of the tool alone, in milliseconds. Replaces `ratio` if the service
   * and the tool alone use the same build of ffmpeg.
   */
  moreMs?: number
  workOf: (contender: BenchContender) => () => Promise<void>
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

/**
 * Measures short work from its request to its result, and compares it with the system's tools on
 * the same video.
 */
export async function benchShort(scope: BenchResources): Promise<BenchResult[]> {
  const folder = await scope.makeFolder()
  const path = await makeFilm(folder, "film.mp4", SMALL.split(" "))
  const service = await startBenchService(scope)
  const lathe = await startLatheContender(service, await readMediaBody(path))
  const bare = createSystemToolsContender(path)
  const usesBareTools = await printAndCompareFfmpegVersions(service)
  const figures: BenchResult[] = []
  for (const each of CASES) figures.push(await compareCase(each, { bare, lathe, usesBareTools }))
  return [
    ...figures,
    await benchLarge(service, lathe, await makeLargeFilm(folder)),
    ...(await benchProcessor(service, lathe, bare)),
  ]
}

async function makeFilm(folder: string, name: string, words: string[]): Promise<string> {
  const path = join(folder, name)
  await runUnsandboxed(
    systemToolPaths.ffmpeg,
    ["-v", "error", "-nostdin", "-y", ...words, path],
    folder,
  )
  return path
}

/** Makes a video of 300 MB, some minutes long, with its index at the end. */
async function makeLargeFilm(folder: string): Promise<string> {
  const scene = await makeFilm(folder, "scene.mp4", SCENE.split(" "))
  const again = ["-stream_loop", "-1", "-i", scene, "-c", "copy", "-fs", String(LARGE_BYTES)]
  return await makeFilm(folder, "large.mp4", again)
}

/** Returns a function that does the work of a contender 100 times, with 8 concurrent runs. */
function crowd(work: () => Promise<void>): () => Promise<void> {
  const times = Array.from({ length: CROWD.probes })
  return async () => void (await pMap(times, work, { concurrency: CROWD.callers }))
}

async function compareCase(
  { name, tool, rounds, ratio: ratioMax, moreMs: moreMsMax, workOf }: Case,
  {
    bare,
    lathe,
    usesBareTools,
  }: { bare: BenchContender; lathe: BenchContender; usesBareTools: boolean },
): Promise<BenchResult> {
  const medianOf = await measureMediansInRotation(rounds, {
    bare: () => measureMs(workOf(bare)),
    lathe: () => measureMs(workOf(lathe)),
  })
  const [measuredMs, referenceMs] = [medianOf("lathe"), medianOf("bare")]
  const [ratio, moreMs] = [measuredMs / referenceMs, measuredMs - referenceMs]
  // If the service uses the same ffmpeg as the comparison, the goal limits the difference of the
  // times and not their ratio, because the time of ffmpeg itself cannot be reduced.
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

async function benchLarge(
  { caller }: BenchService,
  lathe: LatheContender,
  path: string,
): Promise<BenchResult> {
  const film = await readMediaBody(path)
  async function probe(): Promise<number> {
    const startedMs = performance.now()
    const id = await lathe.upload(film)
    const tookMs = performance.now() - startedMs
    await caller.ask("DELETE", `/v1/files/${id}`)
    return tookMs
  }
  const medianOf = await measureMediansInRotation(LARGE.rounds, {
    probe,
    bare: () => measureMs(async () => await runSystemFfprobe(path)),
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

/**
 * Measures the CPU time of one short job, which varies less than the duration on a busy machine.
 */
async function benchProcessor(
  { pid }: BenchService,
  lathe: LatheContender,
  bare: BenchContender,
): Promise<BenchResult[]> {
  if (readProcessTreeCpuMs(pid) === 0) {
    console.error("This system does not tell the processor time of processes.")
    return []
  }
  const [ofService, ofBare] = [
    () => readProcessTreeCpuMs(pid),
    () => readCpuTime(process.pid).childrenMs,
  ]
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
  await runRepeatedly(PROCESSOR_TIMES, work)
  return (clock() - before) / PROCESSOR_TIMES
}

function compareProcessor(
  what: string,
  tool: string,
  { measuredMs, referenceMs }: { measuredMs: number; referenceMs: number },
): BenchResult {
  return {
    name: `short: processor time of ${what}, mean of ${PROCESSOR_TIMES}`,
    measured: formatMs(measuredMs),
    reference: `${formatMs(referenceMs)} bare ${tool}`,
    comparison: formatRatio(measuredMs / referenceMs),
    goal: "for information",
    isMet: null,
  }
}
