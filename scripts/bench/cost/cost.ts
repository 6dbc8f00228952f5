import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { parseJson } from "../../local/parse-json.ts"
import { formatTable } from "../../local/table.ts"
import { countsSince } from "../counted/counts.ts"
import { startCountedService, startReceiver } from "../counted/service.ts"
import type { CountedService } from "../counted/service.ts"
import type { Figure } from "../figure.ts"
import { findRunner, findWorkerd } from "../../local/processes/memory.ts"
import { cpuTimeOf, familyTimeMs, watchTimes } from "../../local/processes/process-time.ts"
import type { BenchScope } from "../scope.ts"
import { makeCases, openPage } from "./cases.ts"
import type { CostCase } from "./cases.ts"
import { messages, objectsOf, reckonCost, workerRequests } from "./reckon.ts"
import type { Taken } from "./reckon.ts"

const WARM_UP = 2
const JOBS = 10
/** What is done after the end of a job belongs to it, too. */
const SETTLE_MS = 1_500
const JOB_MS_MAX = 120_000

const line = z.object({ time: z.iso.datetime(), event: z.string(), task_id: z.string() })

/** What a thousand jobs of each kind would cost, from the operations of some that are done one by one. */
export async function benchCost(scope: BenchScope): Promise<Figure[]> {
  const page = await openPage(scope)
  const receiver = await startReceiver(scope)
  const service = await startCountedService(scope, {
    ALLOWED_PRIVATE_HOSTS: `127.0.0.1,${page.host}`,
    PAID_REQUESTS_PER_MINUTE: "100000",
    // A minute's sweep is not of any job.
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

type Measured = {
  service: CountedService
  receiver: Awaited<ReturnType<typeof startReceiver>>
  runs: { tasks: number; ms: number }
}

async function measure(each: CostCase, { service, receiver, runs }: Measured): Promise<Taken> {
  async function doJobs(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const known = receiver.received()
      await each.send(service.caller, receiver.url)
      if (!each.hasWebhook) continue
      await pWaitFor(() => receiver.received() > known, { interval: 5, timeout: JOB_MS_MAX })
    }
    await sleep(SETTLE_MS)
  }
  const runner = findRunner(service.pid) ?? 0
  async function look() {
    return {
      counts: await service.counts(),
      ...runs,
      workerMs: cpuTimeOf(findWorkerd(service.pid) ?? 0).ownMs,
      runnerMs: familyTimeMs(runner),
    }
  }
  await doJobs(WARM_UP)
  const before = await look()
  const times = watchTimes(runner)
  await doJobs(JOBS)
  const after = await look()
  times.stop()
  return {
    jobs: JOBS,
    pool: each.pool,
    counts: countsSince(before.counts, after.counts),
    workerMs: after.workerMs - before.workerMs,
    tasks: after.tasks - before.tasks,
    runnerSeconds: (after.ms - before.ms) / 1000,
    // Short processes are waited for, and long ones seen.
    vcpuSeconds: Math.max(after.runnerMs - before.runnerMs, times.ms()) / 1000,
  }
}

/** Tasks that were run so far, and the time that runners had them. */
function watchRuns(service: CountedService): { tasks: number; ms: number } {
  const runs = { tasks: 0, ms: 0 }
  const acceptedAt = new Map<string, number>()
  service.onLine((said) => {
    const { data } = line.safeParse(parseJson(said))
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

function rowOf(name: string, taken: Taken): string[] {
  const { counts, jobs } = taken
  const cost = reckonCost(taken)
  const objects = objectsOf(counts)
  const thousands = [
    counts["d1.trips"] ?? 0,
    counts["d1.rows_read"] ?? 0,
    counts["d1.rows_written"] ?? 0,
    objects.requests,
    objects.rowsWritten,
    counts["r2.class_a"] ?? 0,
    counts["r2.class_b"] ?? 0,
    messages(counts),
    workerRequests(counts),
    taken.workerMs / 1000,
    taken.runnerSeconds,
    taken.vcpuSeconds,
  ].map((value) => Math.round((value * 1000) / jobs).toLocaleString("en"))
  const operations = [cost.worker, cost.d1, cost.objects, cost.r2, cost.queues]
  const all = [...operations, cost.container, cost.containerLeast, cost.all, cost.idle].map(
    (value) => value.toFixed(3),
  )
  return [name, ...thousands, ...all]
}
