import { setTimeout as sleep } from "node:timers/promises"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { CAPACITY, readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import { submitJobs, submitBlockers } from "./submitted-jobs.ts"
import type { AcceptedJob, SubmittedJobs } from "./submitted-jobs.ts"
import type { Answer, Passing } from "./proxy.ts"

const REACHED_MS_MAX = 60_000
const POLL_MS = 5
/** Until a connection to a killed process is known to be closed. */
const GONE_MS = 30
/** Time within which the Worker writes the end of a job and tells its dispatcher. */
const ENDING_MS = 40
/** Of a clip of the site, which is then half read. */
const HALF_BYTES = 100_000

/** Points at which the runner has the job's task. */
export const RUNNER_POINTS = [
  "dispatched",
  "downloading",
  "encoding",
  "uploading",
  "reporting",
  "reported",
] as const
/** Points around the end of a job, at which jobs that wait for its outputs are about to start. */
export const HANDOVER_POINTS = ["reporting", "ending", "reported"] as const
/** Points of a job's life at which a fault can be injected. */
export const INJECTION_POINTS = [
  "accepted",
  "queued",
  ...RUNNER_POINTS,
  "settled",
  "telling",
] as const
/** Points of an output that is uploaded in parts. */
export const PART_POINTS = ["beginning parts", "storing a part", "completing parts"] as const

/** Points of what comes from the web, whatever brings it. */
export const WEB_POINTS = [
  "accepted",
  "dispatched",
  "requesting the source",
  "reading the source",
  "reporting",
  "reported",
] as const
/** Points of an import of several parts that a later run goes on with. */
export const RESUMABLE_POINTS = [
  "beginning",
  "storing part 2",
  "storing part 5",
  "completing",
] as const
/** Points of the tasks that follow an import of a command's. */
export const FOLLOWING_POINTS = [
  "probing",
  "probed",
  "command's inputs",
  "command's report",
] as const

/** Points of work on sound, whose tools are more than one. */
export const SOUND_POINTS = [
  "accepted",
  "dispatched",
  "downloading",
  "encoding",
  "uploading",
  "reporting",
  "reported",
  "telling",
] as const

export type InjectionPoint =
  | (typeof INJECTION_POINTS)[number]
  | (typeof HANDOVER_POINTS)[number]
  | (typeof PART_POINTS)[number]
  | (typeof WEB_POINTS)[number]
  | (typeof RESUMABLE_POINTS)[number]
  | (typeof FOLLOWING_POINTS)[number]

/** Submits jobs; `onTarget` is called with the first before any other is asked for. */
export type Submit = (bed: Bed, onTarget: (id: string) => void) => Promise<SubmittedJobs>

/** The runner's calls that mark a point. */
const CALLS: Partial<Record<InjectionPoint, string>> = {
  downloading: "inputs",
  uploading: "outputs",
  reporting: "reports finished",
  ending: "reports finished",
  "command's report": "reports finished",
  "beginning parts": "outputs parts",
  "storing a part": "outputs parts 2",
  "completing parts": "outputs parts complete",
  beginning: "outputs resumable",
  "storing part 2": "outputs resumable parts 2",
  "storing part 5": "outputs resumable parts 5",
  completing: "outputs resumable complete",
  probing: "inputs",
  "command's inputs": "inputs",
}

/** Which of the calls of a command with two imports, two probes and two inputs marks a point. */
const COUNTS: Partial<Record<InjectionPoint, number>> = {
  probed: 4,
  "command's inputs": 3,
  "command's report": 5,
}

/**
 * Submits jobs of every kind and injects a fault when the first of them is at a point. The request
 * that marks the point is held until the injection is over.
 */
export async function injectAt(
  bed: Bed,
  point: InjectionPoint,
  inject: () => Promise<void>,
  submit: Submit = submitJobs,
): Promise<SubmittedJobs> {
  const target = Promise.withResolvers<string>()
  const blockers = point === "queued" ? await blockSlots(bed) : []
  const holding = holdAt(bed, point, target.promise, inject)
  const submitted = await submit(bed, target.resolve)
  if (holding) await withinTime(holding, point)
  else {
    await waitUntil(bed, point, submitted.target)
    await inject()
  }
  return { ...submitted, all: [...blockers, ...submitted.all] }
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

/** Holds the request or webhook that marks a point until the injection is over; null: none does. */
function holdAt(
  bed: Bed,
  point: InjectionPoint,
  targetId: Promise<string>,
  inject: () => Promise<void>,
): Promise<void> | null {
  if (point === "telling") return holdWebhook(bed, targetId, inject)
  const count = COUNTS[point] ?? 1
  if (point === "reported" || point === "probed") {
    return holdCall(bed, { call: "reports finished", count }, targetId, injectAfter(inject))
  }
  const call = CALLS[point]
  if (call === undefined) return null
  const handler = point === "ending" ? injectAmid(inject) : injectBefore(inject)
  return holdCall(bed, { call, count }, targetId, handler)
}

type CallHandler = (passing: Passing) => Promise<Answer | "cut">

async function holdCall(
  bed: Bed,
  { call, count }: { call: string; count: number },
  targetId: Promise<string>,
  handler: CallHandler,
): Promise<void> {
  const done = Promise.withResolvers<void>()
  let isDone = false
  let counted = 0
  const rule = bed.proxy.addRule((passing) => {
    if (isDone || passing.call !== call) return null
    return (async () => {
      if ((await targetId) !== passing.jobId || isDone) return (await passing.forward()) ?? "cut"
      counted += 1
      if (counted < count) return (await passing.forward()) ?? "cut"
      isDone = true
      try {
        return await handler(passing)
      } finally {
        done.resolve()
      }
    })()
  })
  await done.promise
  rule.remove()
}

function injectBefore(inject: () => Promise<void>): CallHandler {
  return async (passing) => {
    await inject()
    await sleep(GONE_MS)
    if (!passing.isWaitedFor()) return "cut"
    return (await passing.forward()) ?? "cut"
  }
}

/** Injects at a random moment while the Worker handles the request. */
function injectAmid(inject: () => Promise<void>): CallHandler {
  return async (passing) => {
    const answering = passing.forward()
    await sleep(Math.random() * ENDING_MS)
    await inject()
    return (await answering) ?? "cut"
  }
}

function injectAfter(inject: () => Promise<void>): CallHandler {
  return async (passing) => {
    const answer = await passing.forward()
    await inject()
    return answer ?? "cut"
  }
}

async function holdWebhook(
  bed: Bed,
  targetId: Promise<string>,
  inject: () => Promise<void>,
): Promise<void> {
  const { receiver } = bed
  const before = receiver.beforeAnswer
  const done = Promise.withResolvers<void>()
  receiver.beforeAnswer = async (jobId) => {
    if (jobId !== (await targetId)) return
    receiver.beforeAnswer = before
    await inject()
    done.resolve()
  }
  await done.promise
}

async function waitUntil(
  bed: Bed,
  point: InjectionPoint,
  { id, room, sourcePath = "" }: AcceptedJob,
): Promise<void> {
  if (point === "requesting the source" || point === "reading the source") {
    const bytes = point === "requesting the source" ? 0 : HALF_BYTES
    const timeout = { milliseconds: REACHED_MS_MAX, message: "the source was not asked" }
    await pWaitFor(() => bed.source.requestsOf(sourcePath).some(({ sent }) => sent >= bytes), {
      interval: POLL_MS,
      timeout,
    })
  }
  if (point === "dispatched" || point === "encoding") {
    const event = point === "dispatched" ? "task.accepted" : "process.started"
    await bed.events.when(id, (said) => said.event === event, REACHED_MS_MAX)
  }
  if (point !== "settled") return
  const record = z.looseObject({ status: z.string() })
  const timeout = { milliseconds: REACHED_MS_MAX, message: "the job never succeeded" }
  async function isSettled(): Promise<boolean> {
    const { status } = await readJson(record, bed.call("GET", `/${room}/${id}`))
    return status === "success"
  }
  await pWaitFor(isSettled, { interval: POLL_MS, timeout })
}

async function withinTime(reached: Promise<void>, point: InjectionPoint): Promise<void> {
  const late = new AbortController()
  await Promise.race([
    reached,
    sleep(REACHED_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new Error(`no job reached the point "${point}"`)
    }),
  ])
  late.abort()
}
