import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { parseJson } from "../../cli/parse-json.ts"
import { formatTable } from "../../cli/table.ts"
import { subtractOperationCounts } from "../counted/counts.ts"
import { startCountedService, startWebhookReceiver } from "../counted/service.ts"
import type { CountedService } from "../counted/service.ts"
import type { BenchResult } from "../figure.ts"
import { findRunnerPid, findWorkerdPid } from "../../cli/processes/memory.ts"
import {
  readCpuTime,
  readProcessTreeCpuMs,
  watchProcessTreeCpu,
} from "../../cli/processes/process-time.ts"
import type { BenchResources } from "../scope.ts"
import {
  countQueueMessages,
  sumDurableObjectUse,
  computeCost,
  countWorkerInvocations,
} from "./compute-cost.ts"
import type { JobResourceUse } from "./compute-cost.ts"
import { startTestSite } from "../../../test/support/site/site.ts"
import type { PoolName } from "../../../src/bindings/pools.ts"
import { SHORT_SPEECH_TEXT, generateSpeech } from "../../../test/support/media/speech.ts"
import { fliteStep } from "../../setup/test-tools.ts"
import { ensureSetupSteps } from "../../setup/step.ts"
import { makeJsonBody } from "../../cli/client/caller.ts"
import type { ApiCaller } from "../../cli/client/caller.ts"
import { makeMediaFile, readMediaBody } from "../../cli/client/media.ts"
import { uploadFile, uploadMedia } from "../../cli/client/requests.ts"

const WARM_UP = 2
const JOBS = 10
/**
 * Wait after a job's end, in milliseconds. Work of the service in this time counts as work of the
 * job.
 */
const SETTLE_MS = 1_500
const JOB_MS_MAX = 120_000

const line = z.object({ time: z.iso.datetime(), event: z.string(), task_id: z.string() })

/**
 * Prints the cost of a thousand jobs of each kind on Cloudflare, extrapolated from the operations
 * of ten sequential jobs.
 */
export async function benchCost(scope: BenchResources): Promise<BenchResult[]> {
  const page = await openPage(scope)
  const receiver = await startWebhookReceiver(scope)
  const service = await startCountedService(scope, {
    ALLOWED_PRIVATE_HOSTS: `127.0.0.1,${page.host}`,
    PAID_REQUESTS_PER_MINUTE: "100000",
    // Delays the sweep, the service's periodic clean-up, beyond the measurement, because its cost
    // belongs to no job.
    SWEEP_SECONDS: "3600",
  })
  const runs = watchRuns(service)
  const rows: string[][] = []
  for (const each of await makeCases(service.caller, await scope.makeFolder(), page.url)) {
    console.error(`${each.name} ...`)
    rows.push(rowOf(each.name, await measure(each, { service, receiver, runs })))
  }
  console.log(formatTable([HEADINGS, ...rows]))
  return []
}

type CostMeasurement = {
  service: CountedService
  receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  runs: { tasks: number; ms: number }
}

async function measure(
  each: CostCase,
  { service, receiver, runs }: CostMeasurement,
): Promise<JobResourceUse> {
  async function doJobs(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const known = receiver.received()
      await each.send(service.caller, receiver.url)
      if (!each.hasWebhook) continue
      await pWaitFor(() => receiver.received() > known, { interval: 5, timeout: JOB_MS_MAX })
    }
    await sleep(SETTLE_MS)
  }
  const runner = findRunnerPid(service.pid) ?? 0
  async function look() {
    return {
      counts: await service.counts(),
      ...runs,
      workerMs: readCpuTime(findWorkerdPid(service.pid) ?? 0).ownMs,
      runnerMs: readProcessTreeCpuMs(runner),
    }
  }
  await doJobs(WARM_UP)
  const before = await look()
  const times = watchProcessTreeCpu(runner)
  await doJobs(JOBS)
  const after = await look()
  times.stop()
  return {
    jobs: JOBS,
    pool: each.pool,
    counts: subtractOperationCounts(before.counts, after.counts),
    workerMs: after.workerMs - before.workerMs,
    tasks: after.tasks - before.tasks,
    runnerSeconds: (after.ms - before.ms) / 1000,
    // Takes the larger of two CPU times of the runner and its tools. The difference of totals
    // includes short tools that have ended, and the sampled time includes long tools that a sandbox
    // killed.
    vcpuSeconds: Math.max(after.runnerMs - before.runnerMs, times.ms()) / 1000,
  }
}

/**
 * Counts the tasks that end from now on, and sums the time for which the tasks occupied a runner,
 * in milliseconds.
 */
function watchRuns(service: CountedService): { tasks: number; ms: number } {
  const runs = { tasks: 0, ms: 0 }
  const acceptedAt = new Map<string, number>()
  service.onLine((text) => {
    const { data } = line.safeParse(parseJson(text))
    if (!data) return
    const at = Date.parse(data.time)
    if (data.event === "task.accepted") acceptedAt.set(data.task_id, at)
    if (data.event !== "task.ended") return
    runs.tasks += 1
    runs.ms += at - (acceptedAt.get(data.task_id) ?? at)
  })
  return runs
}

const HEADINGS = [
  "1,000 jobs",
  "D1 trips",
  "D1 rows read",
  "written",
  "object calls",
  "rows written",
  "R2 A",
  "R2 B",
  "messages",
  "Worker requests",
  "CPU s",
  "container s",
  "vCPU s",
  "Worker $",
  "D1 $",
  "objects $",
  "R2 $",
  "queues $",
  "container $",
  "at least $",
  "all $",
  "+ idle $",
]

function rowOf(name: string, use: JobResourceUse): string[] {
  const { counts, jobs } = use
  const cost = computeCost(use)
  const objects = sumDurableObjectUse(counts)
  const thousands = [
    counts["d1.trips"] ?? 0,
    counts["d1.rows_read"] ?? 0,
    counts["d1.rows_written"] ?? 0,
    objects.requests,
    objects.rowsWritten,
    counts["r2.class_a"] ?? 0,
    counts["r2.class_b"] ?? 0,
    countQueueMessages(counts),
    countWorkerInvocations(counts),
    use.workerMs / 1000,
    use.runnerSeconds,
    use.vcpuSeconds,
  ].map((value) => Math.round((value * 1000) / jobs).toLocaleString("en"))
  const operations = [cost.worker, cost.d1, cost.objects, cost.r2, cost.queues]
  const all = [...operations, cost.container, cost.containerLeast, cost.all, cost.idle].map(
    (value) => value.toFixed(3),
  )
  return [name, ...thousands, ...all]
}

/**
 * Kind of job to measure, with the runner pool of its longest task and a function that submits one
 * such job.
 */
type CostCase = {
  name: string
  pool: PoolName
  send: (caller: ApiCaller, webhook: string) => Promise<void>
  /** Whether a webhook reports the end of the job. If not, `send` polls the job until its end. */
  hasWebhook: boolean
}

const FILM =
  "-f lavfi -i testsrc=size=1280x720:rate=25 -f lavfi -i sine=frequency=440 -t 10 -c:v libx264 -c:a aac"
const SITE_PAGE = "/page/video"

/**
 * Starts a web page from which the service fetches media. Returns the URL of the page, and the host
 * that the service must be allowed to call.
 */
async function openPage(scope: BenchResources): Promise<{ host: string; url: string }> {
  const site = scope.use(await startTestSite())
  return { host: site.host, url: site.url(SITE_PAGE) }
}

/**
 * Returns the kinds of jobs to measure, on ten seconds of 720p video, five seconds of speech, or
 * one second of web video.
 */
async function makeCases(caller: ApiCaller, folder: string, pageUrl: string): Promise<CostCase[]> {
  const path = await makeMediaFile(folder, "film.mp4", FILM)
  const fileId = await uploadMedia(caller, path)
  const media = await readMediaBody(path)
  await ensureSetupSteps([fliteStep])
  const speech = await generateSpeech(folder, { name: "speech.wav", text: SHORT_SPEECH_TEXT })
  const speechId = await uploadMedia(caller, speech)
  const source = `svc_id://${fileId}`
  function post(name: string, pool: PoolName, at: string, body: object): CostCase {
    async function send(by: ApiCaller, webhook: string): Promise<void> {
      await by.ask("POST", at, makeJsonBody({ ...body, webhook }))
    }
    return { name, pool, send, hasWebhook: true }
  }
  function command(name: string, words: string): CostCase {
    return post(name, "media", "/v1/commands", {
      ffmpeg_command: `ffmpeg -i {{in_1}} ${words} {{out_1}}`,
      input_files: { in_1: source },
      output_files: { out_1: "out.mp4" },
    })
  }
  return [
    {
      name: "upload, probed",
      pool: "light",
      hasWebhook: false,
      async send(by) {
        const { ffprobe } = await uploadFile(by, "film.mp4", media, { prefer: "wait=60" })
        if (!ffprobe) throw new Error("a file that was probed has no ffprobe")
      },
    },
    command("command, copies", "-c copy"),
    command("command, encodes", "-c:v libx264 -preset medium -c:a copy"),
    post("normalize", "media", "/v1/normalize", { file_url: source }),
    post("transcode, 480p", "media", "/v1/transcode", {
      source,
      outputs: [{ codec: "h264", resolution: "480p" }],
    }),
    post("transcribe, 5 s", "speech", "/v1/transcribe", { file_url: `svc_id://${speechId}` }),
    post("fetch", "fetch", "/v1/fetch", { url: pageUrl }),
  ]
}
