import { z } from "zod"
import { makeJsonBody } from "../cli/client/caller.ts"
import type { ApiCaller } from "../cli/client/caller.ts"
import { formatDifference, formatMs } from "./figure.ts"
import type { BenchResult } from "./figure.ts"
import type { BenchResources } from "./scope.ts"
import { startBenchService } from "./service.ts"
import type { BenchService } from "./service.ts"
import { quantile, runRepeatedly } from "./statistics.ts"

const WARM_UP_TIMES = 5
const TIMES = 60
const GOAL_P50_MS = 30

/**
 * Events of the runner's log that mark the two measured starts of a job: the runner accepted the
 * job's task, and the runner started ffmpeg.
 */
const STARTS = [
  { event: "task.accepted", name: "start of the job that waits for it" },
  { event: "process.started", name: "ffmpeg of the job that waits for it" },
]

const batchJob = z.object({ id: z.string(), completed_at: z.iso.datetime() })
const createdBatch = z.object({ batch_id: z.string(), created_at: z.iso.datetime() })
const endedBatch = z.object({
  status: z.literal("success"),
  jobs: z.record(z.string(), batchJob),
})

/**
 * Measures the time from the end of a job to the start of the job that waits for its output,
 * compared with the time from the creation of a job without inputs to that job's start.
 */
export async function benchChains(scope: BenchResources): Promise<BenchResult[]> {
  const service = await startBenchService(scope)
  await runRepeatedly(WARM_UP_TIMES, () => measurePair(service))
  const pairs = await runRepeatedly(TIMES, () => measurePair(service))
  return STARTS.flatMap(({ name }, at) => {
    const measured = pairs.flatMap(({ measuredMs }) => measuredMs[at] ?? [])
    const reference = pairs.flatMap(({ referenceMs }) => referenceMs[at] ?? [])
    return [0.5, 0.95].map((share) => {
      const hasGoal = at === 0 && share === 0.5
      return figure(`end of a job until ${name}, p${share * 100}`, {
        measured: quantile(measured, share),
        reference: quantile(reference, share),
        hasGoal,
      })
    })
  })
}

/**
 * Times until each event of `STARTS`, in milliseconds: `measuredMs` of a dependent job, and
 * `referenceMs` of an independent job.
 */
type Pair = { measuredMs: number[]; referenceMs: number[] }

/** Runs a job and the job that waits for its output, and then a job without inputs. */
async function measurePair(service: BenchService): Promise<Pair> {
  const { caller } = service
  const { jobs } = await runBatch(caller, { film: makeFilm(), copy: copyFilm() })
  const { created_at, jobs: others } = await runBatch(caller, { alone: makeFilm() })
  const { film, copy, alone } = { ...jobs, ...others }
  if (!film || !copy || !alone) throw new Error("a record of a batch lacks a job")
  return {
    measuredMs: await timesUntilStarts(service, copy.id, film.completed_at),
    referenceMs: await timesUntilStarts(service, alone.id, created_at),
  }
}

async function timesUntilStarts(
  { whenLogged }: BenchService,
  jobId: string,
  from: string,
): Promise<number[]> {
  const starts = STARTS.map(({ event }) => whenLogged(event, jobId))
  return (await Promise.all(starts)).map((at) => at - Date.parse(from))
}

async function runBatch(caller: ApiCaller, jobs: object) {
  const created = await caller.ask("POST", "/v1/batches", makeJsonBody({ jobs }))
  const { batch_id, created_at } = createdBatch.parse(JSON.parse(created.text))
  const prefer = { prefer: "wait=60" }
  const ended = await caller.ask("GET", `/v1/batches/${batch_id}`, undefined, prefer)
  return { created_at, ...endedBatch.parse(JSON.parse(ended.text)) }
}

function makeFilm(): object {
  const ffmpeg_command = "ffmpeg -f lavfi -i color=s=16x16:d=0.04 -c:v mpeg4 {{out_1}}"
  return { commands: { ffmpeg_command, output_files: { out_1: "film.mp4" } } }
}

function copyFilm(): object {
  return {
    commands: {
      ffmpeg_command: "ffmpeg -i {{in_1}} -c copy {{out_1}}",
      input_files: { in_1: "svc_id://film/out_1" },
      output_files: { out_1: "copy.mp4" },
    },
  }
}

function figure(
  name: string,
  { measured, reference, hasGoal }: { measured: number; reference: number; hasGoal: boolean },
): BenchResult {
  return {
    name: `chains: ${name}`,
    measured: formatMs(measured),
    reference: `${formatMs(reference)} create until then`,
    comparison: formatDifference(measured - reference, formatMs),
    goal: hasGoal ? `<= ${GOAL_P50_MS} ms` : "",
    isMet: hasGoal ? measured <= GOAL_P50_MS : null,
  }
}
