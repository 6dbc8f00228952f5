import pWaitFor from "p-wait-for"
import { isServiceHealthy } from "../../scripts/cli/health.ts"
import { cancelJobs, submitJobs, submitBlockers } from "./submitted-jobs.ts"
import { CAPACITY, openBed } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { awaitEnds } from "./checks.ts"
import { say } from "./proxy.ts"
import { injectAt } from "./injection-points.ts"
import { killRunner, killWorkerd } from "./process-faults.ts"

const TIMES = 3
const AWAITED_MS_MAX = 90_000
const POLL_MS = 10

/** How soon work continues after a fault: the slowest of some tries, and the goal. */
type RecoveryTime = { name: string; slowestMs: number; goalMs: number }

/** Measures, with the settings that everybody has, how long it takes until work goes on. */
export async function measureRecovery(): Promise<{ lines: string[]; areMet: boolean }> {
  const figures = [
    await measure("runner killed until the next ffmpeg runs", 10_000, TIMES, afterRunnerKill),
    await measure("runner gone without a word until the next ffmpeg", 60_000, 1, afterSilence),
    await measure("workerd back until all jobs go on", 10_000, TIMES, afterWorkerdKill),
  ]
  return {
    lines: figures.map(formatTime),
    areMet: figures.every(({ slowestMs, goalMs }) => slowestMs <= goalMs),
  }
}

async function measure(
  name: string,
  goalMs: number,
  times: number,
  tryOnce: (bed: Bed) => Promise<number>,
): Promise<RecoveryTime> {
  await using bed = await openBed()
  let slowestMs = 0
  for (let tried = 0; tried < times; tried += 1) {
    slowestMs = Math.max(slowestMs, await tryOnce(bed))
  }
  return { name, slowestMs, goalMs }
}

async function afterRunnerKill(bed: Bed): Promise<number> {
  let killedAt = 0
  const submitted = await injectAt(bed, "encoding", async () => {
    killedAt = Date.now()
    await killRunner(bed)
  })
  const started = await untilSecondAttempt(bed, submitted.target.id)
  await cancelJobs(bed, submitted)
  await awaitEnds(bed, submitted.all)
  return started - killedAt
}

/** The new process's announcement is dropped, so that only the expired lease tells. */
async function afterSilence(bed: Bed): Promise<number> {
  const rule = bed.proxy.addRule(({ call }) =>
    call === "/operator/runner-up" ? Promise.resolve(say(200)) : null,
  )
  const tookMs = await afterRunnerKill(bed)
  rule.remove()
  return tookMs
}

/** From the first answer of the new workerd until the Worker has answered for each open job. */
async function afterWorkerdKill(bed: Bed): Promise<number> {
  const running = await submitBlockers(bed, CAPACITY - 1)
  await Promise.all(
    running.map(({ id }) =>
      bed.events.when(id, (said) => said.event === "process.started", AWAITED_MS_MAX),
    ),
  )
  const goneOn = new Map<string, number>()
  bed.proxy.onAnswered = ({ jobId }, { status }) => {
    if (status === 200 && !goneOn.has(jobId)) goneOn.set(jobId, Date.now())
  }
  const submitted = await submitJobs(bed, () => undefined)
  goneOn.clear()
  await killWorkerd(bed)
  const backAt = await untilItAnswers(bed)
  const jobs = [...running, ...submitted.all.filter(({ errorCode }) => errorCode !== "canceled")]
  const canceling = cancelJobs(bed, submitted)
  await Promise.all(
    jobs.map(async (job) => {
      await awaitEnds(bed, [job])
      // A job that ended before the kill sends no more requests.
      if (!goneOn.has(job.id)) goneOn.set(job.id, Date.now())
    }),
  )
  bed.proxy.onAnswered = () => undefined
  await canceling
  return Math.max(...jobs.map(({ id }) => goneOn.get(id) ?? 0)) - backAt
}

async function untilSecondAttempt(bed: Bed, jobId: string): Promise<number> {
  const said = await bed.events.when(
    jobId,
    ({ event, fence }) => event === "process.started" && fence > 1,
    AWAITED_MS_MAX,
  )
  return said.atMs
}

async function untilItAnswers({ origin }: Bed): Promise<number> {
  await pWaitFor(() => isServiceHealthy({ url: `${origin}/v1/health` }), { interval: POLL_MS })
  return Date.now()
}

function formatTime({ name, slowestMs, goalMs }: RecoveryTime): string {
  const isMet = slowestMs <= goalMs ? "met" : "NOT MET"
  return `${name}: ${(slowestMs / 1000).toFixed(1)} s at most (goal ${goalMs / 1000} s, ${isMet})`
}
