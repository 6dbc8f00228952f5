import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import { formatTable } from "../../cli/table.ts"
import { subtractOperationCounts, sumOperationCounts } from "../counted/counts.ts"
import type { OperationCounts } from "../counted/counts.ts"
import { startCountedService, startWebhookReceiver } from "../counted/service.ts"
import type { CountedService } from "../counted/service.ts"
import { formatMib, formatMs } from "../figure.ts"
import type { BenchResult } from "../figure.ts"
import { findWorkerdPid, readResidentBytes, samplePeakMemory } from "../../cli/processes/memory.ts"
import { readCpuTime } from "../../cli/processes/process-time.ts"
import type { BenchResources } from "../scope.ts"
import { quantile } from "../statistics.ts"
import { startJobLoad } from "./load.ts"
import type { JobLoadResult } from "./load.ts"
import { startSimulatedRunner } from "./runner.ts"

/**
 * Size of the load: the number of accounts, the jobs per minute of all accounts together, and the
 * duration.
 */
export type ScaleOptions = { accounts: number; rate: number; seconds: number }

/**
 * Result of a run. `counts` has the operations of the load's jobs, without those of the first
 * upload of each account.
 */
export type ScaleResult = {
  facts: JobLoadResult
  /**
   * Times from sending a request that creates a job until the runner got the job's task, one for
   * each job, in milliseconds.
   */
  waitMs: number[]
  counts: OperationCounts
  finished: number
  webhooks: number
  /**
   * Time from the creation of the first job until all jobs and webhooks were done, in milliseconds.
   */
  tookMs: number
  workerdBytes: { before: number; peak: number }
  /**
   * CPU time of workerd, which runs nearly all of the service except the runner, in milliseconds.
   */
  workerdMs: number
}

const MEAN_WORK_MS = 300
const SLOTS_MIN = 8
const SLOTS_MAX = 256
const MAKERS = 8
const SETTLE_MS_MAX = 120_000
const LOOK_MS = 100
/**
 * Wait after the last job, in milliseconds, in which the dispatchers (Durable Objects with the task
 * queues) finish their work.
 */
const REST_MS = 3_000

/**
 * Runs jobs of many accounts with a simulated runner. Prints the operations per job, and the rate
 * of jobs at which each limit of Cloudflare would be reached.
 */
export async function benchScale(
  scope: BenchResources,
  options: ScaleOptions,
): Promise<BenchResult[]> {
  const run = await runScale(scope, options)
  console.log(formatRun(run, options))
  console.log(`\n${formatTable(computeLimitRows(run.counts, run.finished))}`)
  return []
}

/**
 * Starts a service that counts its operations, submits the jobs, and waits until all jobs have
 * ended.
 */
export async function runScale(
  scope: BenchResources,
  { accounts, rate, seconds }: ScaleOptions,
): Promise<ScaleResult> {
  const receiver = await startWebhookReceiver(scope)
  const slots = (rate / 60) * (MEAN_WORK_MS / 1000) * 2 + SLOTS_MIN
  const notes: ((jobId: string) => void)[] = []
  const runner = scope.use(
    await startSimulatedRunner(drawMs, ({ job_id: id }) => notes.forEach((note) => note(id))),
  )
  const service = await startCountedService(scope, {
    RUNNER_ORIGIN: runner.origin,
    RUNNER_CAPACITY: String(Math.round(Math.min(slots, SLOTS_MAX))),
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    LOG_LEVEL: "warn",
  })
  const load = startJobLoad(service.origin, receiver.url, runner.ended.finished)
  scope.defer(() => load.close())
  notes.push(load.note)
  await load.prepare(await makeKeys(service, accounts))
  await sleep(REST_MS)

  const [before, finishedBefore] = [await service.counts(), runner.ended.finished.size]
  const workerd = findWorkerdPid(service.pid) ?? 0
  const [beforeBytes, beforeMs] = [readResidentBytes(workerd) ?? 0, readCpuTime(workerd).ownMs]
  const peak = samplePeakMemory(workerd)
  const startedAt = performance.now()
  const facts = await load.run({ rate, seconds })
  function isOver(): boolean {
    const finished = runner.ended.finished.size - finishedBefore
    return finished >= facts.submitted && receiver.received() >= facts.withWebhook
  }
  while (!isOver() && performance.now() - startedAt < facts.tookMs + SETTLE_MS_MAX) {
    await sleep(LOOK_MS)
  }
  const tookMs = performance.now() - startedAt
  await sleep(REST_MS)
  const workerdMs = readCpuTime(workerd).ownMs - beforeMs
  return {
    facts,
    waitMs: load.waitsMs(),
    workerdMs,
    counts: subtractOperationCounts(before, await service.counts()),
    finished: runner.ended.finished.size - finishedBefore,
    webhooks: receiver.received(),
    tookMs,
    workerdBytes: { before: beforeBytes, peak: peak.stop().peakBytes },
  }
}

/**
 * Draws the duration of a task from an exponential distribution: most tasks are short, and a few
 * take several times the mean.
 */
function drawMs(): number {
  return -MEAN_WORK_MS * Math.log(1 - Math.random())
}

async function makeKeys(service: CountedService, accounts: number): Promise<string[]> {
  const names = Array.from({ length: accounts }, (_, index) => `scale-${index}`)
  return await pMap(names, (name) => service.makeKey(name, "paid"), { concurrency: MAKERS })
}

function formatRun(run: ScaleResult, { accounts, rate, seconds }: ScaleOptions): string {
  const { facts, counts, finished, tookMs, workerdBytes, workerdMs } = run
  const perMinute = (finished / tookMs) * 60_000
  const each = Object.entries(counts)
    .filter(([, value]) => value !== 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => [name, String(Math.round(value)), (value / finished).toFixed(2)])
  return [
    `${accounts} accounts, ${rate} jobs a minute asked for ${seconds} s`,
    formatTable([
      ["submitted", "refused", "finished", "a minute", "webhooks of", "still open"],
      [
        facts.submitted,
        facts.refused,
        finished,
        perMinute.toFixed(0),
        `${run.webhooks} of ${facts.withWebhook}`,
        counts["states.open_jobs"] ?? 0,
      ].map(String),
    ]),
    formatTable([
      ["submit p50", "submit p99", "wait p50", "wait p99", "workerd before", "peak", "CPU a job"],
      [
        formatMs(quantile(facts.submitMs, 0.5)),
        formatMs(quantile(facts.submitMs, 0.99)),
        formatMs(quantile(run.waitMs, 0.5)),
        formatMs(quantile(run.waitMs, 0.99)),
        formatMib(workerdBytes.before),
        formatMib(workerdBytes.peak),
        formatMs(workerdMs / finished),
      ],
    ]),
    formatTable([["counted", "all", "a job"], ...each]),
  ].join("\n\n")
}

// Limits of Cloudflare, from its documentation in November 2026:
// https://developers.cloudflare.com/d1/platform/limits/, …/queues/platform/limits/,
// …/durable-objects/platform/limits/ and …/containers/platform-details/.

/** A D1 database runs one statement at a time; a small statement takes about a millisecond. */
const D1_STATEMENTS_PER_SECOND = 1_000
const D1_BYTES_MAX = 10e9
const QUEUE_MESSAGES_PER_SECOND = 5_000
/**
 * Requests per second above which a Durable Object responds with an overload error (a soft limit).
 */
const OBJECT_REQUESTS_PER_SECOND = 1_000
/** Concurrent vCPUs of all containers of a Cloudflare account. */
const CONTAINERS_VCPU = 1_500
const STANDARD_4_VCPU = 4
const EXAMPLE_JOBS_PER_MINUTE = 10_000
const MINUTES_PER_DAY = 1_440

/**
 * Computes the rate of jobs at which each limit of Cloudflare would be reached. Returns rows of a
 * table.
 */
export function computeLimitRows(counts: OperationCounts, jobs: number): string[][] {
  const ms = (counts["d1.ms"] ?? 0) / jobs
  const statements = (counts["d1.statements"] ?? 0) / jobs
  const bytes = (counts["d1.bytes"] ?? 0) / jobs
  const pool = sumOperationCounts(counts, /^object\.Pool\.(?:requests|alarms)$/) / jobs
  const dispatcher = sumOperationCounts(counts, /^object\.Dispatcher\.(?:requests|alarms)$/) / jobs
  const limiter = sumOperationCounts(counts, /^object\.RateLimiter\.(?:requests|alarms)$/) / jobs
  const messages = sumOperationCounts(counts, /^queue\.(?:JOBS|WEBHOOKS)$/) / jobs
  const kept = D1_BYTES_MAX / bytes
  return [
    ["limit", "a job takes", "is reached at"],
    [
      "D1: one statement after the other, 1 ms each",
      `${statements.toFixed(1)} statements`,
      perMinute(D1_STATEMENTS_PER_SECOND / statements),
    ],
    ["D1: the same, as long as SQLite took here", `${ms.toFixed(1)} ms`, perMinute(1000 / ms)],
    [
      "D1: 10 GB a database",
      `${bytes.toFixed(0)} bytes`,
      `${format(kept)} jobs kept; ${(kept / EXAMPLE_JOBS_PER_MINUTE / MINUTES_PER_DAY).toFixed(1)} days of ${format(EXAMPLE_JOBS_PER_MINUTE)} a minute`,
    ],
    [
      "Queues: 5,000 messages a second each",
      `${messages.toFixed(2)} messages`,
      perMinute(QUEUE_MESSAGES_PER_SECOND / messages),
    ],
    objectRow("a pool's object", pool, "of one pool"),
    objectRow("an account's dispatcher", dispatcher, "of one account"),
    objectRow("a key's limiter", limiter, "of one key"),
    [
      "Containers: 1,500 vCPU, standard-4, 10 s a job",
      "10 s of 4 vCPU",
      perMinute(CONTAINERS_VCPU / STANDARD_4_VCPU / 10),
    ],
  ]
}

function objectRow(name: string, requests: number, of: string): string[] {
  return [
    `Durable Objects: 1,000 requests a second, ${name}`,
    `${requests.toFixed(1)} requests`,
    `${perMinute(OBJECT_REQUESTS_PER_SECOND / requests)} ${of}`,
  ]
}

function perMinute(perSecond: number): string {
  return Number.isFinite(perSecond) ? `${format(perSecond * 60)} jobs a minute` : "never"
}

/** Formats a number with two significant digits. */
function format(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString("en")
}
