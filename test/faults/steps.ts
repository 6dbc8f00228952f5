import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { CAPACITY, readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { submitBatch, submitBlockers } from "./batch.ts"
import type { AcceptedJob, Batch, Order } from "./batch.ts"
import type { Answer, Passing } from "./proxy.ts"

const REACHED_MS_MAX = 60_000
const POLL_MS = 5
/** Until a connection to a process that was killed is known to be gone. */
const GONE_MS = 30

/** Steps of a job's life at which a fault can strike. */
export const STEPS = [
  "accepted",
  "queued",
  "dispatched",
  "downloading",
  "encoding",
  "uploading",
  "reporting",
  "reported",
  "settled",
  "telling",
] as const
/** Steps of an output that travels in parts. */
export const PART_STEPS = ["beginning parts", "storing a part", "completing parts"] as const

export type Step = (typeof STEPS)[number] | (typeof PART_STEPS)[number]

/** The calls of the runner that make a step. */
const CALLS: Partial<Record<Step, string>> = {
  downloading: "inputs",
  uploading: "outputs",
  reporting: "reports finished",
  "beginning parts": "outputs parts",
  "storing a part": "outputs parts 2",
  "completing parts": "outputs parts complete",
}

/**
 * Submits jobs of every kind and strikes when the first of them is at a step. Requests that make
 * the step wait until the strike is over.
 */
export async function strikeAt(
  bed: Bed,
  step: Step,
  strike: () => Promise<void>,
  order?: Order,
): Promise<Batch> {
  const target = Promise.withResolvers<string>()
  const blockers = step === "queued" ? await blockSlots(bed) : []
  const holding = holdAt(bed, step, target.promise, strike)
  const batch = await submitBatch(bed, target.resolve, order)
  if (holding) await withinTime(holding, step)
  else {
    await waitUntil(bed, step, batch.target)
    await strike()
  }
  return { ...batch, all: [...blockers, ...batch.all] }
}

/** Jobs in every slot, so that the next one is queued. */
async function blockSlots(bed: Bed): Promise<AcceptedJob[]> {
  const blockers = await submitBlockers(bed, CAPACITY)
  await Promise.all(
    blockers.map(({ id }) =>
      bed.events.when(id, (said) => said.event === "process.started", REACHED_MS_MAX),
    ),
  )
  return blockers
}

/** Holds the request or the webhook that makes a step until the strike is over; null: none does. */
function holdAt(
  bed: Bed,
  step: Step,
  targetId: Promise<string>,
  strike: () => Promise<void>,
): Promise<void> | null {
  if (step === "telling") return holdWebhook(bed, targetId, strike)
  if (step === "reported") return holdCall(bed, "reports finished", targetId, strikeAfter(strike))
  const call = CALLS[step]
  return call === undefined ? null : holdCall(bed, call, targetId, strikeBefore(strike))
}

type Held = (passing: Passing) => Promise<Answer | "cut">

async function holdCall(
  bed: Bed,
  call: string,
  targetId: Promise<string>,
  held: Held,
): Promise<void> {
  const done = Promise.withResolvers<void>()
  let isDone = false
  const rule = bed.proxy.addRule((passing) => {
    if (isDone || passing.call !== call) return null
    return (async () => {
      if ((await targetId) !== passing.jobId || isDone) return (await passing.forward()) ?? "cut"
      isDone = true
      try {
        return await held(passing)
      } finally {
        done.resolve()
      }
    })()
  })
  await done.promise
  rule.remove()
}

function strikeBefore(strike: () => Promise<void>): Held {
  return async (passing) => {
    await strike()
    await sleep(GONE_MS)
    if (!passing.isWaitedFor()) return "cut"
    return (await passing.forward()) ?? "cut"
  }
}

function strikeAfter(strike: () => Promise<void>): Held {
  return async (passing) => {
    const answer = await passing.forward()
    await strike()
    return answer ?? "cut"
  }
}

async function holdWebhook(
  bed: Bed,
  targetId: Promise<string>,
  strike: () => Promise<void>,
): Promise<void> {
  const { receiver } = bed
  const before = receiver.beforeAnswer
  const done = Promise.withResolvers<void>()
  receiver.beforeAnswer = async (jobId) => {
    if (jobId !== (await targetId)) return
    receiver.beforeAnswer = before
    await strike()
    done.resolve()
  }
  await done.promise
}

async function waitUntil(bed: Bed, step: Step, { id, room }: AcceptedJob): Promise<void> {
  if (step === "dispatched" || step === "encoding") {
    const event = step === "dispatched" ? "task.accepted" : "process.started"
    await bed.events.when(id, (said) => said.event === event, REACHED_MS_MAX)
  }
  if (step !== "settled") return
  const record = z.looseObject({ status: z.string() })
  const until = Date.now() + REACHED_MS_MAX
  while ((await readJson(record, bed.call("GET", `/${room}/${id}`))).status !== "success") {
    if (Date.now() > until) throw new Error("the job never succeeded")
    await sleep(POLL_MS)
  }
}

async function withinTime(reached: Promise<void>, step: Step): Promise<void> {
  const late = new AbortController()
  await Promise.race([
    reached,
    sleep(REACHED_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new Error(`no job came to the step "${step}"`)
    }),
  ])
  late.abort()
}
