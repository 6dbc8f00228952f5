import { spawn } from "node:child_process"
import { once } from "node:events"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { Lab } from "./lab.ts"
import { makeMedia, readMedia, SMALL_MEDIA, tools } from "./media.ts"
import { submitCommand, untilSuccess, uploadFile } from "./requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { median, timeMs } from "./statistics.ts"

const TIMES = 40
const WARM_UP_TIMES = 5
const GOAL_MS = 30

/** From the answer of POST /commands until ffmpeg runs, beside a bare start of ffmpeg. */
export async function benchStart(lab: Lab): Promise<Figure[]> {
  const folder = lab.makeFolder()
  const path = await makeMedia(folder, "small.mp4", SMALL_MEDIA)
  const service = await startBenchService(lab)
  const file = await uploadFile(service.caller, "small.mp4", await readMedia(path))
  await untilSuccess(service.caller, `/v1/files/${file.id}`)
  const measuredMs: number[] = []
  const bareMs: number[] = []
  for (let time = -WARM_UP_TIMES; time < TIMES; time += 1) {
    const startedMs = await startOnce(service, file.id)
    const spawnedMs = await timeMs(spawnBare)
    if (time < 0) continue
    measuredMs.push(startedMs)
    bareMs.push(spawnedMs)
  }
  const [measured, bare] = [median(measuredMs), median(bareMs)]
  return [
    {
      name: "start: accepted until ffmpeg runs, p50",
      measured: formatMs(measured),
      reference: `${formatMs(bare)} bare spawn`,
      comparison: formatDifference(measured - bare, formatMs),
      goal: `<= ${GOAL_MS} ms`,
      isMet: measured <= GOAL_MS,
    },
  ]
}

async function startOnce({ caller, whenSaid }: BenchService, fileId: string): Promise<number> {
  const id = await submitCommand(caller, {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "copy.mp4" },
  })
  const acceptedAt = performance.timeOrigin + performance.now()
  const startedAt = await whenSaid("process.started", id)
  await untilSuccess(caller, `/v1/commands/${id}`)
  return startedAt - acceptedAt
}

async function spawnBare(): Promise<void> {
  const child = spawn(tools.ffmpeg, ["-version"], { stdio: "ignore" })
  await once(child, "spawn")
  child.once("exit", () => undefined)
}
