import { setTimeout as sleep } from "node:timers/promises"
import pMap from "p-map"
import { formatTable } from "../../local/table.ts"
import { countsSince } from "../counted/counts.ts"
import type { Counts } from "../counted/counts.ts"
import { startCountedService, startReceiver } from "../counted/service.ts"
import type { CountedService } from "../counted/service.ts"
import type { Figure } from "../figure.ts"
import { formatMib, formatMs } from "../figure.ts"
import { findWorkerd, residentBytes, watchMemory } from "../../local/processes/memory.ts"
import { cpuTimeOf } from "../../local/processes/process-time.ts"
import type { BenchScope } from "../scope.ts"
import { quantile } from "../statistics.ts"
import { reckonLimits } from "./limits.ts"
import { openLoad } from "./load.ts"
import type { LoadFacts } from "./load.ts"
import { startPretendedRunner } from "./runner.ts"

/** How many accounts have how many jobs a minute, together, for how many seconds. */
export type ScaleOptions = { accounts: number; rate: number; seconds: number }

/** What a run came to; `counts` is of its jobs alone, the accounts' first uploads are not in it. */
export type ScaleRun = {
  facts: LoadFacts
  /** From the sending of a create to the runner's having its task, of every job. */
  waitMs: number[]
  counts: Counts
  finished: number
  webhooks: number
  /** From the first create until nothing of it was left to do. */
  tookMs: number
  workerdBytes: { before: number; peak: number }
  /** CPU time of workerd, which does nearly all that the service does but for the runner. */
  workerdMs: number
}

const MEAN_WORK_MS = 300
const SLOTS_MIN = 8
const SLOTS_MAX = 256
const MAKERS = 8
const SETTLE_MS_MAX = 120_000
const LOOK_MS = 100
/** What a dispatcher does after the end of a job is done by then. */
const REST_MS = 3_000

/** Jobs of many accounts, with a runner that only pretends: what a job takes of everything. */
export async function benchScale(scope: BenchScope, options: ScaleOptions): Promise<Figure[]> {
  const run = await runScale(scope, options)
  console.log(formatRun(run, options))
  console.log(`\n${formatTable(reckonLimits(run.counts, run.finished))}`)
  return []
}

/** Starts a service that counts, has the jobs made, and waits until all are over. */
export async function runScale(
  scope: BenchScope,
  { accounts, rate, seconds }: ScaleOptions,
): Promise<ScaleRun> {
  const receiver = await startReceiver(scope)
  const slots = (rate / 60) * (MEAN_WORK_MS / 1000) * 2 + SLOTS_MIN
  const notes: ((jobId: string) => void)[] = []
  const runner = scope.use(
    await startPretendedRunner(drawMs, ({ job_id: id }) => notes.forEach((note) => note(id))),
  )
  const service = await startCountedService(scope, {
    RUNNER_ORIGIN: runner.origin,
    RUNNER_CAPACITY: String(Math.round(Math.min(slots, SLOTS_MAX))),
    ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    LOG_LEVEL: "warn",
  })
  const load = openLoad(service.origin, receiver.url, runner.ended.finished)
  scope.defer(() => load.close())
  notes.push(load.note)
  await load.prepare(await makeKeys(service, accounts))
  await sleep(REST_MS)

  const [before, finishedBefore] = [await service.counts(), runner.ended.finished.size]
  const workerd = findWorkerd(service.pid) ?? 0
  const [beforeBytes, beforeMs] = [residentBytes(workerd) ?? 0, cpuTimeOf(workerd).ownMs]
  const peak = watchMemory(workerd)
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
  const workerdMs = cpuTimeOf(workerd).ownMs - beforeMs
  return {
    facts,
    waitMs: load.waitsMs(),
    workerdMs,
    counts: countsSince(before, await service.counts()),
    finished: runner.ended.finished.size - finishedBefore,
    webhooks: receiver.received(),
    tookMs,
    workerdBytes: { before: beforeBytes, peak: peak.stop().peakBytes },
  }
}

/** An exponential distribution: most tasks are short, and a few take several times the mean. */
function drawMs(): number {
  return -MEAN_WORK_MS * Math.log(1 - Math.random())
}

async function makeKeys(service: CountedService, accounts: number): Promise<string[]> {
  const names = Array.from({ length: accounts }, (_, index) => `scale-${index}`)
  return await pMap(names, (name) => service.makeKey(name, "paid"), { concurrency: MAKERS })
}

function formatRun(run: ScaleRun, { accounts, rate, seconds }: ScaleOptions): string {
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
