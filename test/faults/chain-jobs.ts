import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import type { AcceptedJob, SubmittedJobs } from "./submitted-jobs.ts"

const PICTURE = ["h264", "aac"]
const X264 = "-c:v libx264 -preset ultrafast"

/** Order of a job, whose inputs may be outputs of jobs before it, as `film/out_1`. */
type ChainOrder = {
  room: "commands" | "normalize"
  command?: string
  inputs: readonly string[]
  errorCode?: string
}

/** Name of the account's stored video among the inputs. */
const MEDIA = "media"

/** A chain of four jobs, three of which form a diamond with a fifth. */
const DIAMOND: Record<string, ChainOrder> = {
  film: {
    room: "commands",
    command: `ffmpeg -re -i {{in_1}} ${X264} -c:a aac {{out_1}}`,
    inputs: [MEDIA],
  },
  level: { room: "normalize", inputs: ["film/out_1"] },
  left: copy("level/file"),
  right: copy("film/out_1"),
  join: {
    room: "commands",
    command: "ffmpeg -i {{in_1}} -i {{in_2}} -map 0:v -map 1:a -c copy {{out_1}}",
    inputs: ["left/out_1", "right/out_1"],
  },
}

/** A job that fails after the film, and jobs behind it. */
const FAILING: Record<string, ChainOrder> = {
  broken: {
    room: "commands",
    command: "ffmpeg -i {{in_1}} -c:v no_such_codec {{out_1}}",
    inputs: ["film/out_1"],
    errorCode: "encoder_not_found",
  },
  behind: { ...copy("broken/out_1"), errorCode: "input_failed" },
  last: { ...copy("behind/out_1", "film/out_1"), errorCode: "input_failed" },
}

/** The same with jobs behind a failing and behind a canceled job. */
const WITH_FAILURES: Record<string, ChainOrder> = {
  ...DIAMOND,
  ...FAILING,
  endless: {
    room: "commands",
    command: `ffmpeg -re -f lavfi -i testsrc=size=64x64:rate=10 -t 300 ${X264} {{out_1}}`,
    inputs: [],
    errorCode: "canceled",
  },
  after: { ...copy("endless/out_1"), errorCode: "input_failed" },
}

function copy(...inputs: string[]): ChainOrder {
  const named = inputs.map((_, at) => `-i {{in_${at + 1}}}`).join(" ")
  return { room: "commands", command: `ffmpeg ${named} -c copy {{out_1}}`, inputs }
}

/** Name of the job whose injection point is awaited, or `batch` for the webhook of the batch. */
export type ChainTarget = "film" | "level" | "join" | "batch"

const created = z.union([
  z.looseObject({ command_id: z.string() }).transform((body) => body.command_id),
  z.looseObject({ normalization_id: z.string() }).transform((body) => body.normalization_id),
])
const createdBatch = z.looseObject({
  id: z.string(),
  jobs: z.record(z.string(), z.looseObject({ id: z.string() })),
})

/** Submits jobs that wait for each other, one by one. */
export function submitChain(targetName: ChainTarget) {
  return async (bed: Bed, onTarget: (id: string) => void): Promise<SubmittedJobs> => {
    const jobs = new Map<string, AcceptedJob>()
    for (const [name, order] of Object.entries(WITH_FAILURES)) {
      const body = makeBody(bed, order, (job) => jobs.get(job)?.id)
      const id = body && (await submitJob(bed, order, body))
      if (id === null) continue
      jobs.set(name, toAcceptedJob(id, name, order))
      if (name === targetName) onTarget(id)
    }
    return { target: findTarget(jobs, targetName), all: [...jobs.values()] }
  }
}

/** Jobs of the batches that end by themselves, before a test cancels jobs. */
const ENDING: Partial<Record<ChainTarget, Record<string, ChainOrder>>> = {
  join: DIAMOND,
  batch: { ...DIAMOND, ...FAILING },
}

/** Submits a batch: with failing jobs, or a diamond whose last job is `join`. */
export function submitBatch(targetName: ChainTarget) {
  const orders = ENDING[targetName] ?? WITH_FAILURES
  return async (bed: Bed, onTarget: (id: string) => void): Promise<SubmittedJobs> => {
    const creates = Object.entries(orders).map(([name, order]) => {
      return [name, { [order.room]: makeBody(bed, order, (job) => job) }] as const
    })
    const body = { jobs: Object.fromEntries(creates), webhook: bed.receiver.url }
    const { id, jobs: records } = await readJson(createdBatch, post(bed, "/batches", body))
    const jobs = new Map(
      Object.entries(orders).flatMap(([name, order]) => {
        const record = records[name]
        return record ? [[name, toAcceptedJob(record.id, name, order)]] : []
      }),
    )
    const target = findTarget(jobs, targetName)
    onTarget(targetName === "batch" ? id : target.id)
    return { target, all: [...jobs.values()], batch: { id, jobs: Object.fromEntries(jobs) } }
  }
}

function findTarget(jobs: ReadonlyMap<string, AcceptedJob>, name: ChainTarget): AcceptedJob {
  const target = jobs.get(name === "batch" ? "film" : name)
  if (!target) throw new Error(`there is no job ${name}`)
  return target
}

/**
 * Makes the body of a create; null if a needed job was not accepted. `resolve` returns the
 * reference of a job by its name.
 */
function makeBody(
  bed: Bed,
  { room, command, inputs }: ChainOrder,
  resolve: (job: string) => string | undefined,
): object | null {
  const urls: string[] = []
  for (const input of inputs) {
    const [job = "", output = ""] = input.split("/")
    const resolved = input === MEDIA ? bed.mediaFileId : resolve(job)
    if (resolved === undefined) return null
    urls.push(`svc_id://${input === MEDIA ? resolved : `${resolved}/${output}`}`)
  }
  const webhook = bed.receiver.url
  if (room === "normalize") return { file_url: urls[0], webhook }
  return {
    ffmpeg_command: command,
    input_files: Object.fromEntries(urls.map((url, at) => [`in_${at + 1}`, url])),
    output_files: { out_1: "out.mp4" },
    webhook,
  }
}

/** Creates a job; returns null if the job that it needs failed before, so that it was refused. */
async function submitJob(
  bed: Bed,
  { room, errorCode }: ChainOrder,
  body: object,
): Promise<string | null> {
  const answer = await post(bed, `/${room}`, body)
  if (answer.status === 422 && errorCode === "input_failed") {
    await answer.body?.cancel()
    return null
  }
  return await readJson(created, Promise.resolve(answer))
}

/** Posts a request, which may be sent several times and counts once. */
async function post(bed: Bed, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", "idempotency-key": newId() }
  return await bed.call("POST", path, () => ({ body: JSON.stringify(body), headers }))
}

function toAcceptedJob(id: string, name: string, { room, errorCode }: ChainOrder): AcceptedJob {
  const key = room === "normalize" ? "file" : "out_1"
  return { id, room, name, errorCode: errorCode ?? null, outputs: { [key]: PICTURE } }
}
