import { spawn } from "node:child_process"
import { once } from "node:events"
import { formatDifference, formatMs } from "./figure.ts"
import type { Figure } from "./figure.ts"
import type { BenchScope } from "./scope.ts"
import { makeMedia, SMALL_MEDIA, tools } from "./media.ts"
import { submitCommand, untilSuccess, uploadMedia } from "./requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { compareMedians, timeMs } from "./statistics.ts"

const ROUNDS = { warmUp: 5, counted: 40 }
const GOAL_MS = 30

/** From the answer of POST /commands until ffmpeg runs, beside a bare start of ffmpeg. */
export async function benchStart(scope: BenchScope): Promise<Figure[]> {
  const folder = await scope.makeFolder()
  const path = await makeMedia(folder, "small.mp4", SMALL_MEDIA)
  const service = await startBenchService(scope)
  const fileId = await uploadMedia(service.caller, path)
  const { measured, reference } = await compareMedians(
    ROUNDS,
    () => startOnce(service, fileId),
    () => timeMs(spawnBare),
  )
  return [
    {
      name: "start: accepted until ffmpeg runs, p50",
      measured: formatMs(measured),
      reference: `${formatMs(reference)} bare spawn`,
      comparison: formatDifference(measured - reference, formatMs),
      goal: `<= ${GOAL_MS} ms`,
      isMet: measured <= GOAL_MS,
    },
  ]
}

async function startOnce({ caller, whenLogged }: BenchService, fileId: string): Promise<number> {
  const id = await submitCommand(caller, {
    ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: "copy.mp4" },
  })
  const acceptedAt = performance.timeOrigin + performance.now()
  const startedAt = await whenLogged("process.started", id)
  await untilSuccess(caller, `/v1/commands/${id}`)
  return startedAt - acceptedAt
}

async function spawnBare(): Promise<void> {
  const child = spawn(tools.ffmpeg, ["-version"], { stdio: "ignore" })
  await once(child, "spawn")
  child.once("exit", () => undefined)
}
