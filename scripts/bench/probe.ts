import { basename } from "node:path"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { makeMedia, readMedia, runBare, SMALL_MEDIA, tools } from "./media.ts"
import { uploadFile } from "./requests.ts"
import { startBenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const TIMES = 30
const WARM_UP_TIMES = 5
const GOAL_MS = 40
const WORDS = "-v error -print_format json -show_format -show_streams -i".split(" ")

/** From the beginning of POST /files until the record has its ffprobe, beside a bare ffprobe. */
export async function benchProbe(lab: Lab): Promise<Figure[]> {
  const folder = lab.makeFolder()
  const path = await makeMedia(folder, "small.mp4", SMALL_MEDIA)
  const media = await readMedia(path)
  const { caller } = await startBenchService(lab)
  const measuredMs: number[] = []
  const bareMs: number[] = []
  for (let time = -WARM_UP_TIMES; time < TIMES; time += 1) {
    const filledMs = await timeMs(async () => {
      const { ffprobe } = await uploadFile(caller, "small.mp4", media, { prefer: "wait=30" })
      if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
    })
    const probedMs = await timeMs(async () => {
      JSON.parse(await runBare(tools.ffprobe, [...WORDS, `file:${basename(path)}`], folder))
    })
    if (time < 0) continue
    measuredMs.push(filledMs)
    bareMs.push(probedMs)
  }
  const [measured, bare] = [median(measuredMs), median(bareMs)]
  return [
    {
      name: "probe: POST /files until ffprobe is there, p50",
      measured: formatMs(measured),
      reference: `${formatMs(bare)} bare ffprobe`,
      comparison: formatDifference(measured - bare, formatMs),
      goal: `<= +${GOAL_MS} ms`,
      isMet: measured - bare <= GOAL_MS,
    },
  ]
}
