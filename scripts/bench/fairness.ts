import pMap from "p-map"
import type { ApiCaller } from "../cli/client/caller.ts"
import { formatDifference, formatMs, formatRatio } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import type { BenchResources } from "./scope.ts"
import { submitCommand, waitUntilSuccess } from "../cli/client/requests.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { median, runRepeatedly } from "./statistics.ts"

const FLOOD_JOBS = 1000
const FLOOD_CALLERS = 8
const TASK_MS = 1000
const TIMES = 10
const SLOTS = 2
const EXTRA_MS_MAX = 200
const IDLE_RATIO_MAX = 1.2

/**
 * Measures how long a job of an account waits while another account has a thousand jobs in the
 * queue.
 */
export async function benchFairness(scope: BenchResources): Promise<BenchResult[]> {
  const full = await measure(scope, SLOTS)
  const room = await measure(scope, SLOTS - 1)
  return [
    {
      name: `fairness: wait behind ${FLOOD_JOBS} jobs that hold every slot, longest`,
      measured: formatMs(Math.max(...full.besideMs)),
      reference: `${formatMs(full.taskMs)} one task of the flood`,
      comparison: formatDifference(Math.max(...full.besideMs) - full.taskMs, formatMs),
      goal: `<= one task + ${EXTRA_MS_MAX} ms`,
      isMet: Math.max(...full.besideMs) <= full.taskMs + EXTRA_MS_MAX,
    },
    {
      name: `fairness: wait behind ${FLOOD_JOBS} jobs with a slot free, p50`,
      measured: formatMs(median(room.besideMs)),
      reference: `${formatMs(median(room.idleMs))} idle`,
      comparison: formatRatio(median(room.besideMs) / median(room.idleMs)),
      goal: `<= ${IDLE_RATIO_MAX} x`,
      isMet: median(room.besideMs) <= IDLE_RATIO_MAX * median(room.idleMs),
    },
  ]
}

/**
 * Measures how long jobs of an account wait while no other jobs exist, and while another account
 * has many jobs, of which `floodSlots` may run at once.
 */
async function measure(scope: BenchResources, floodSlots: number) {
  const service = await startBenchService(scope, {
    runnerCapacity: SLOTS,
    settings: { PAID_RUNNING_JOBS_MAX: String(floodSlots) },
  })
  const other = await service.openAccount("other")
  await waitMs(service, other)
  const idleMs = await runRepeatedly(TIMES, () => waitMs(service, other))
  const flood = await submitFlood(service.caller)
  const taskMs = await lengthMs(service, flood)
  const besideMs = await runRepeatedly(TIMES, () => waitMs(service, other))
  await service.stop()
  return { idleMs, besideMs, taskMs }
}

/** Returns the time from the response of POST /commands until ffmpeg runs, in milliseconds. */
async function waitMs({ whenLogged }: BenchService, caller: ApiCaller): Promise<number> {
  const id = await submitCommand(caller, order("-f lavfi -i color=s=16x16:d=0.04"))
  const acceptedAt = performance.timeOrigin + performance.now()
  const startedAt = await whenLogged("process.started", id)
  await waitUntilSuccess(caller, `/v1/commands/${id}`)
  return startedAt - acceptedAt
}

/**
 * Submits jobs that run for `TASK_MS` of wall-clock time and use almost no CPU. Returns their ids.
 */
async function submitFlood(caller: ApiCaller): Promise<string[]> {
  const work = order(`-re -f lavfi -i color=s=16x16:r=5:d=${TASK_MS / 1000}`)
  const jobs = Array.from({ length: FLOOD_JOBS })
  return await pMap(jobs, () => submitCommand(caller, work), { concurrency: FLOOD_CALLERS })
}

/**
 * Returns the longest duration of four tasks of the account with many jobs, from the runner's
 * acceptance to the end, in milliseconds.
 */
async function lengthMs({ whenLogged }: BenchService, ids: string[]): Promise<number> {
  const lengths = ids.slice(4, 8).map(async (id) => {
    const acceptedAt = await whenLogged("task.accepted", id)
    return (await whenLogged("task.ended", id)) - acceptedAt
  })
  return Math.max(...(await Promise.all(lengths)))
}

function order(source: string) {
  return {
    ffmpeg_command: `ffmpeg ${source} -c:v mpeg4 {{out_1}}`,
    input_files: {},
    output_files: { out_1: "out.mp4" },
  }
}
