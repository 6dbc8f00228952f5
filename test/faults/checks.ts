import { createHash } from "node:crypto"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { newId } from "../../src/platform/ids.ts"
import { readJson } from "./bed.ts"
import type { Bed } from "./bed.ts"
import type { AcceptedBatch, AcceptedJob } from "./submitted-jobs.ts"
import { MEDIA_SECONDS, probeBytes } from "./media.ts"

const FINAL_MS_MAX = 120_000
/** A webhook whose first try died is sent again by the sweep, once its claim is over. */
const HEARD_MS_MAX = 150_000
const SECONDS_OFF_MAX = 0.4
const POLL_MS = 20

const KINDS = {
  files: "file",
  commands: "command",
  fetch: "fetch",
  normalize: "normalize",
  transcribe: "transcribe",
  jobs: "transcode",
}
/** Of all bytes of a source, in a run that reads its first part again and then goes on. */
const READ_AGAIN_MAX = 1.75

const stored = z.looseObject({ download_url: z.string(), size_bytes: z.number() })
const output = stored.extend({ files: z.array(stored).optional() })
const record = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  error_code: z.string().optional(),
  completed_at: z.string().nullish(),
  download_url: z.string().optional(),
  transcript: z.string().nullish(),
  srt: z.string().optional(),
  output_files: z.record(z.string(), z.union([z.string(), output])).optional(),
  renditions: z.array(z.object({ url: z.string() })).optional(),
})
/** The Job, in the words that the records of other kinds have. */
const jobRecord = z
  .looseObject({
    status: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    outputs: z.array(z.looseObject({ url: z.string() })),
  })
  .transform(({ status, error, outputs, ...job }) =>
    record.parse({
      ...job,
      status: status === "completed" ? "success" : status,
      ...(error && { error: error.message, error_code: error.code }),
      renditions: outputs,
    }),
  )

type JobRecord = z.infer<typeof record>

/** A job at its end: its record word for word, and what is wrong with it. */
export type EndedJob = { job: AcceptedJob; text: string; wrong: string | null }

/** Waits until jobs are final and looks at what each of them made. */
export async function awaitEnds(bed: Bed, jobs: AcceptedJob[]): Promise<EndedJob[]> {
  return await Promise.all(jobs.map((job) => awaitEnd(bed, job)))
}

async function awaitEnd(bed: Bed, job: AcceptedJob): Promise<EndedJob> {
  let ended: EndedJob = { job, text: "", wrong: "was never read" }
  async function isFinal(): Promise<boolean> {
    const found = await readRecord(bed, job)
    const isOver = found.status === "success" || found.status === "failed"
    const wrong = isOver ? null : `is ${found.status} for too long`
    ended = { job, text: JSON.stringify(found), wrong }
    return isOver
  }
  const timeout = { milliseconds: FINAL_MS_MAX, fallback: () => undefined }
  await pWaitFor(isFinal, { interval: POLL_MS, timeout })
  return ended
}

/** The same jobs with what each of them made looked at. */
export async function checkOutputs(bed: Bed, ended: EndedJob[]): Promise<EndedJob[]> {
  return await Promise.all(
    ended.map(async (each) => {
      const wrong =
        each.wrong ?? (await findWrong(bed, each.job, record.parse(JSON.parse(each.text))))
      return { ...each, wrong }
    }),
  )
}

async function findWrong(bed: Bed, job: AcceptedJob, found: JobRecord): Promise<string | null> {
  if (job.errorCode !== null) {
    return found.error_code === job.errorCode ? null : `failed with ${found.error_code}`
  }
  if (found.status !== "success") return `failed with ${found.error_code}: ${found.error}`
  if (job.sha256 !== undefined) {
    const answer = await bed.call("GET", found.download_url ?? "")
    const hash = createHash("sha256").update(new Uint8Array(await answer.arrayBuffer()))
    if (hash.digest("hex") !== job.sha256) return "differs from its source"
  }
  if (job.says !== undefined) return await findUnsaid(bed, job.says, found)
  if (job.readsOn === true) {
    const wrong = findReadAgain(bed, job)
    if (wrong !== null) return wrong
  }
  const renditions = found.renditions ?? []
  if (renditions.length !== (job.renditions?.length ?? 0)) {
    return `has ${renditions.length} renditions`
  }
  const outputs = [
    ...Object.entries(job.outputs).map(([key, codecs]) => {
      const made = found.output_files?.[key] ?? { download_url: found.download_url }
      return { key, codecs, url: typeof made === "string" ? undefined : made.download_url }
    }),
    ...(job.renditions ?? []).map((codecs, index) => ({
      key: String(index + 1),
      codecs,
      url: renditions[index]?.url,
    })),
  ]
  for (const output of outputs) {
    const wrong = await findWrongOutput(bed, output)
    if (wrong !== null) return wrong
  }
  return await findMissingFile(bed, found)
}

/** Finds an error in the bytes of an output. */
async function findWrongOutput(
  bed: Bed,
  { key, codecs, url }: { key: string; codecs: string[]; url: string | undefined },
): Promise<string | null> {
  if (url === undefined) return `has no output ${key}`
  const answer = await bed.call("GET", url)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const probed = await probeBytes(bytes, join(bed.stateDir, `${newId()}.bin`))
  if (!probed || probed.codecs.join() !== codecs.join()) return `made no right output ${key}`
  return Math.abs(probed.seconds - MEDIA_SECONDS) <= SECONDS_OFF_MAX
    ? null
    : `made an output ${key} of ${probed.seconds} s`
}

/** Finds an error in a transcription that must contain a word. */
async function findUnsaid(bed: Bed, word: string, found: JobRecord): Promise<string | null> {
  if (found.transcript?.includes(word) !== true) return `says ${found.transcript}`
  const captions = await bed.call("GET", found.srt ?? "")
  return (await captions.text()).includes(word) ? null : "has captions that differ from its words"
}

/** Finds bytes that an interrupted import requested too often. */
function findReadAgain(bed: Bed, { sourcePath = "", sourceBytes = 0 }: AcceptedJob): string | null {
  const requests = bed.source.requestsOf(sourcePath)
  const sent = requests.reduce((sum, request) => sum + request.sent, 0)
  const ranges = requests.map(({ headers }) => headers.range ?? "all").join(", ")
  return sent <= READ_AGAIN_MAX * sourceBytes
    ? null
    : `read ${sent} bytes of ${sourceBytes} by asking for ${ranges}`
}

/** Finds a missing file among outputs with several files. */
async function findMissingFile(bed: Bed, found: JobRecord): Promise<string | null> {
  for (const [key, made] of Object.entries(found.output_files ?? {})) {
    for (const file of typeof made === "string" ? [] : (made.files ?? [])) {
      const answer = await bed.call("GET", file.download_url)
      const { byteLength } = await answer.arrayBuffer()
      if (byteLength !== file.size_bytes) return `has no file ${file.download_url} of ${key}`
    }
  }
  return null
}

/** An error in a job or batch, which is lost or was done twice. */
type LateError = { jobId: string; kind: "lost" | "doubled"; why: string }

/** Finds errors in jobs some time after their end, and jobs that ended more than once. */
export async function checkAgain(bed: Bed, ended: EndedJob[]): Promise<LateError[]> {
  const timeout = { milliseconds: HEARD_MS_MAX, fallback: () => undefined }
  await pWaitFor(() => ended.every(({ job }) => bed.receiver.heardOf(job.id).times > 0), {
    interval: POLL_MS,
    timeout,
  })
  const found = await Promise.all(ended.map((each) => checkOneAgain(bed, each)))
  return found.flat()
}

async function checkOneAgain(bed: Bed, { job, text, wrong }: EndedJob) {
  const { ids, types, bodies } = bed.receiver.heardOf(job.id)
  const kind = KINDS[job.room]
  const state = job.errorCode === "canceled" ? "canceled" : "failed"
  const type = `${kind}.${job.errorCode === null ? "succeeded" : state}`
  const isMoved = JSON.stringify(await readRecord(bed, job)) !== text
  const facts: ["lost" | "doubled", boolean, string][] = [
    ["lost", wrong !== null, String(wrong)],
    ["lost", ids.size === 0, "sent no webhook"],
    ["lost", ids.size > 0 && !types.has(type), `was told of as ${[...types].join()}`],
    ["doubled", ids.size > 1 || bodies.size > 1, `was told of by ${ids.size} webhooks`],
    ["doubled", isMoved && wrong === null, "changed after its end"],
  ]
  return facts
    .filter(([, holds]) => holds)
    .map(([what, , why]) => ({ jobId: job.id, kind: what, why: `${job.name} ${job.id} ${why}` }))
}

const batchRecord = z.looseObject({
  status: z.string(),
  total_jobs: z.number(),
  open_jobs: z.number(),
  failed_jobs: z.number(),
  jobs: z.record(
    z.string(),
    z.looseObject({ status: z.string(), waiting_for: z.array(z.string()).optional() }),
  ),
})
const batchEvent = z.looseObject({ data: z.unknown() })

/** Finds errors in an ended batch: its counts, its jobs and its only webhook. */
export async function checkBatch(bed: Bed, { id, jobs }: AcceptedBatch): Promise<LateError[]> {
  const timeout = { milliseconds: HEARD_MS_MAX, fallback: () => undefined }
  await pWaitFor(() => bed.receiver.heardOf(id).times > 0, { interval: POLL_MS, timeout })
  const found = await readJson(batchRecord, bed.call("GET", `/batches/${id}`))
  const failedCount = Object.values(jobs).filter(({ errorCode }) => errorCode !== null).length
  const state = failedCount === 0 ? "succeeded" : "failed"
  const { ids, types, bodies } = bed.receiver.heardOf(id)
  const records = Object.values(found.jobs)
  const counts = [found.total_jobs, found.open_jobs, found.failed_jobs].join()
  const statuses = records.filter(({ status }) => status !== "completed" && status !== "failed")
  const sent = [...bodies].map((body) => batchEvent.parse(JSON.parse(body)).data)
  const facts: ["lost" | "doubled", boolean, string][] = [
    ["lost", found.status !== (failedCount === 0 ? "success" : "failed"), `is ${found.status}`],
    ["lost", counts !== [records.length, 0, failedCount].join(), `counts ${counts}`],
    ["lost", statuses.length > 0, `has ${statuses.length} open jobs`],
    [
      "lost",
      records.some(({ waiting_for = [] }) => waiting_for.length > 0),
      "has a job that waits for another",
    ],
    ["lost", ids.size === 0, "sent no webhook"],
    ["lost", ids.size > 0 && [...types].join() !== `batch.${state}`, `sent ${[...types].join()}`],
    ["lost", sent.some((data) => !isDeepStrictEqual(data, found)), "sent another record"],
    ["doubled", ids.size > 1 || bodies.size > 1, `sent ${ids.size} webhooks`],
  ]
  return facts
    .filter(([, holds]) => holds)
    .map(([kind, , why]) => ({ jobId: id, kind, why: `batch ${id} ${why}` }))
}

async function readRecord(bed: Bed, { room, id }: AcceptedJob): Promise<JobRecord> {
  const asked = bed.call("GET", `/${room}/${id}`)
  return await readJson(room === "jobs" ? jobRecord : record, asked)
}
