import type { Rendition } from "../../../src/contract/tasks/render.ts"
import { formatRatio, formatSeconds } from "../figure.ts"
import type { Figure } from "../figure.ts"
import { makeMedia } from "../media.ts"
import { uploadMedia } from "../requests.ts"
import type { BenchScope } from "../scope.ts"
import { startBenchService } from "../service.ts"
import { median, rotateMedians, timeMs } from "../statistics.ts"
import { encodeAlike, encodeOneByOne } from "./bare.ts"
import { submitRenditions } from "./submit.ts"

const SECONDS = 20
const ROUNDS = { warmUp: 0, counted: 3 }
const GOAL = { three: 0.9, single: 1.05, quality: 1.1 }
const PICTURE = `testsrc2=size=1920x1080:rate=25,noise=alls=5:allf=t -f lavfi -i sine=frequency=440`
const ENCODED = "-c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p -c:a aac"
const SOURCE = `-f lavfi -i ${PICTURE} -t ${SECONDS} ${ENCODED}`
const NAME = "source.mp4"

const THREE: Rendition[] = (["1080p", "720p", "480p"] as const).map((resolution, index) => ({
  key: `out_${index + 1}`,
  codec: "h264",
  resolution,
  container: "mp4",
}))
const SINGLE = THREE.slice(1, 2)

/** Renditions of 1080p: three at once beside three alone, one beside ffmpeg, and what quality costs. */
export async function benchRenditions(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const service = await startBenchService(scope)
  const fileId = await uploadMedia(service.caller, await makeMedia(folder, NAME, SOURCE))
  const inRunner: number[] = []
  const medianOf = await rotateMedians(ROUNDS, {
    three: async () => (await submitRenditions(service, fileId, { renditions: THREE })).wholeMs,
    alone: () => timeMs(() => encodeOneByOne({ folder, source: NAME, renditions: THREE })),
    single: async () => {
      const times = await submitRenditions(service, fileId, { renditions: SINGLE })
      inRunner.push(times.runnerMs)
      return times.wholeMs
    },
    alike: () => timeMs(() => encodeAlike({ folder, source: NAME, renditions: SINGLE })),
    measured: async () => {
      const order = { renditions: SINGLE, measuresQuality: true }
      return (await submitRenditions(service, fileId, order)).wholeMs
    },
  })
  const what = `${SECONDS} s of 1080p`
  return [
    compare(`renditions: three of ${what}, accepted until completed, median`, {
      measuredMs: medianOf("three"),
      referenceMs: medianOf("alone"),
      reference: "three bare encodes in a row",
      goal: GOAL.three,
    }),
    compare(`renditions: one of ${what}, accepted until completed, median`, {
      measuredMs: medianOf("single"),
      referenceMs: medianOf("alike"),
      reference: "bare ffmpeg, the same words",
      goal: GOAL.single,
    }),
    compare(`renditions: one of ${what}, on the runner, median`, {
      measuredMs: median(inRunner),
      referenceMs: medianOf("alike"),
      reference: "bare ffmpeg, the same words",
    }),
    compare(`renditions: one of ${what} with its quality measured, median`, {
      measuredMs: medianOf("measured"),
      referenceMs: medianOf("single"),
      reference: "without",
      goal: GOAL.quality,
    }),
  ]
}

function compare(
  name: string,
  of: { measuredMs: number; referenceMs: number; reference: string; goal?: number },
): Figure {
  const ratio = of.measuredMs / of.referenceMs
  return {
    name,
    measured: formatSeconds(of.measuredMs),
    reference: `${formatSeconds(of.referenceMs)} ${of.reference}`,
    comparison: formatRatio(ratio),
    goal: of.goal === undefined ? "" : `<= ${of.goal} x`,
    isMet: of.goal === undefined ? null : ratio <= of.goal,
  }
}
