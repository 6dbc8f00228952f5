import { basename } from "node:path"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { makeMedia, readMedia, runBare, SMALL_MEDIA, tools } from "./media.ts"
import { uploadFile } from "./requests.ts"
import { startBenchService } from "./service.ts"
import { compareMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 5, counted: 30 }
const GOAL_MS = 40
const WORDS = "-v error -print_format json -show_format -show_streams -i".split(" ")

/** From the beginning of POST /files until the record has its ffprobe, beside a bare ffprobe. */
export async function benchProbe(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const path = await makeMedia(folder, "small.mp4", SMALL_MEDIA)
  const media = await readMedia(path)
  const { caller } = await startBenchService(scope)
  async function probeByUpload(): Promise<void> {
    const { ffprobe } = await uploadFile(caller, "small.mp4", media, { prefer: "wait=30" })
    if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
  }
  async function probeBare(): Promise<void> {
    JSON.parse(await runBare(tools.ffprobe, [...WORDS, `file:${basename(path)}`], folder))
  }
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => timeMs(probeByUpload),
    () => timeMs(probeBare),
  )
  return [
    {
      name: "probe: POST /files until ffprobe is there, p50",
      measured: formatMs(measured),
      reference: `${formatMs(reference)} bare ffprobe`,
      comparison: formatDifference(measured - reference, formatMs),
      goal: `<= +${GOAL_MS} ms`,
      isMet: measured - reference <= GOAL_MS,
    },
  ]
}
