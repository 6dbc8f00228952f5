import { setTimeout as sleep } from "node:timers/promises"
import { cancelJobs, submitBatch, submitBlockers } from "./batch.ts"
import { CAPACITY, openBed } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { awaitEnds } from "./checks.ts"
import { say } from "./proxy.ts"
import { strikeAt } from "./steps.ts"
import { killRunner, killWorkerd } from "./strikes.ts"

const TIMES = 3
const AWAITED_MS_MAX = 90_000
const POLL_MS = 10

/** How soon work goes on after a fault: the slowest of some tries, beside its goal. */
type Figure = { name: string; slowestMs: number; goalMs: number }

/** Measures, with the settings that everybody has, how long it takes until work goes on. */
export async function measureRecovery(): Promise<{ lines: string[]; areMet: boolean }> {
  const figures = [
    await measure("runner killed until the next ffmpeg runs", 10_000, TIMES, afterRunnerKill),
    await measure("runner gone without a word until the next ffmpeg", 60_000, 1, afterSilence),
    await measure("workerd back until all jobs go on", 10_000, TIMES, afterWorkerdKill),
  ]
  return {
    lines: figures.map(formatFigure),
    areMet: figures.every(({ slowestMs, goalMs }) => slowestMs <= goalMs),
  }
}

async function measure(
  name: string,
  goalMs: number,
  times: number,
  tryOnce: (bed: Bed) => Promise<number>,
): Promise<Figure> {
  await using bed = await openBed()
  let slowestMs = 0
  for (let tried = 0; tried < times; tried += 1) {
    slowestMs = Math.max(slowestMs, await tryOnce(bed))
  }
  return { name, slowestMs, goalMs }
}

async function afterRunnerKill(bed: Bed): Promise<number> {
  let killedAt = 0
  const batch = await strikeAt(bed, "encoding", async () => {
    killedAt = Date.now()
    await killRunner(bed)
  })
  const started = await untilSecondAttempt(bed, batch.target.id)
  await cancelJobs(bed, batch)
  await awaitEnds(bed, batch.all)
  return started - killedAt
}

/** The new process's word that it came up is swallowed, so that only the lease tells. */
async function afterSilence(bed: Bed): Promise<number> {
  const rule = bed.proxy.addRule(({ call }) =>
    call === "/operator/runner-up" ? Promise.resolve(say(200)) : null,
  )
  const tookMs = await afterRunnerKill(bed)
  rule.remove()
  return tookMs
}

/** From the first answer of the new workerd until each open job was heard of again. */
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
  const batch = await submitBatch(bed, () => undefined)
  goneOn.clear()
  await killWorkerd(bed)
  const backAt = await untilItAnswers(bed)
  const jobs = [...running, ...batch.all.filter(({ errorCode }) => errorCode !== "canceled")]
  const canceling = cancelJobs(bed, batch)
  await Promise.all(
    jobs.map(async (job) => {
      await awaitEnds(bed, [job])
      // One that was over before the kill is not heard of again.
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
  for (;;) {
    const answer = await fetch(`${origin}/v1/health`).catch(() => null)
    if (answer?.ok) return Date.now()
    await sleep(POLL_MS)
  }
}

function formatFigure({ name, slowestMs, goalMs }: Figure): string {
  const isMet = slowestMs <= goalMs ? "met" : "NOT MET"
  return `${name}: ${(slowestMs / 1000).toFixed(1)} s at most (goal ${goalMs / 1000} s, ${isMet})`
}
