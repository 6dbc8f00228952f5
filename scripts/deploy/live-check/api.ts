import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { parseJson } from "../../cli/parse-json.ts"
import { LiveCheckStepError } from "./step-error.ts"
import type { LiveCheckStepEvidence } from "./step-error.ts"

const ANSWER_MS_MAX = 60_000
/**
 * Maximum time for which the service may delay a response while it waits for the end of a job, in
 * seconds.
 */
const WAIT_SECONDS = 10
const POLL_MS = 250
const SHOWN_CHARACTERS = 300

/**
 * Access of one step of the live check, which tests a deployment by real jobs, to the API of the
 * service.
 */
export type LiveCheckApi = {
  /** Origin of the service, without /v1. */
  origin: string
  key: string
  /** Signal that is aborted when the whole check must end. */
  signal: AbortSignal
  /** Time at which the step must have ended, in milliseconds of `performance.now()`. */
  untilMs: number
}

const problem = z.object({
  message: z.string(),
  code_name: z.string().optional(),
  details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

export const checkedJobSchema = z.looseObject({
  status: z.enum(["queued", "processing", "completed", "failed"]),
  outputs: z.array(
    z.looseObject({
      url: z.url(),
      codec: z.string().optional(),
      resolution: z.string().optional(),
      duration_seconds: z.number().optional(),
      size_bytes: z.int(),
    }),
  ),
  warnings: z.array(z.object({ code: z.string() })),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
})

export type CheckedJob = z.infer<typeof checkedJobSchema>

/**
 * Status in the record type `Job`, by the status in other records of a job, such as that of a
 * command.
 */
const JOB_STATUS = {
  pending: "queued",
  running: "processing",
  success: "completed",
  failed: "failed",
} as const

const file = z.looseObject({
  id: z.string(),
  status: z.enum(["pending", "running", "success", "failed"]),
  error: z.string().optional(),
  error_code: z.string().optional(),
  ffprobe: z.unknown().optional(),
})

export type CheckedFile = z.infer<typeof file>

/**
 * Sends a request, and parses the JSON of the response by `schema`. Throws a LiveCheckStepError for
 * an error response or another format.
 */
export async function requestLiveCheckJson<Value>(
  api: LiveCheckApi,
  path: string,
  schema: z.ZodType<Value>,
  init: RequestInit = {},
): Promise<Value> {
  const response = await send(api, `${api.origin}/v1${path}`, init)
  const text = await response.text()
  const method = init.method ?? "GET"
  if (!response.ok) throw refused(`${method} /v1${path}`, response.status, text)
  const { data } = schema.safeParse(parseJson(text))
  if (data !== undefined) return data
  throw new LiveCheckStepError(`${method} /v1${path} was answered by another server: ${cut(text)}`)
}

/** Posts a JSON body, and parses the JSON of the response by `schema`. */
export async function postLiveCheckJson<Value>(
  api: LiveCheckApi,
  path: string,
  schema: z.ZodType<Value>,
  body: object,
): Promise<Value> {
  const headers = { "content-type": "application/json" }
  const init = { method: "POST", headers, body: JSON.stringify(body) }
  return await requestLiveCheckJson(api, path, schema, init)
}

/**
 * Uploads bytes as a file and waits until the file is probed. Throws a LiveCheckStepError if the
 * probe fails.
 */
export async function uploadUntilProbed(
  api: LiveCheckApi,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<CheckedFile> {
  const form = new FormData()
  form.set("file", new Blob([bytes]), name)
  const { id } = await requestLiveCheckJson(api, "/files", file, { method: "POST", body: form })
  const probed = await untilOver(api, { path: `/files/${id}`, schema: file, pool: "light" })
  if (probed.status === "success") return probed
  throw failed({ code: probed.error_code ?? "", message: probed.error ?? "" }, "light")
}

/**
 * Waits for the end of a job. Throws a LiveCheckStepError if the job fails or exceeds the time
 * limit.
 */
export async function waitUntilCheckedJobEnds(
  api: LiveCheckApi,
  id: string,
  pool: string,
): Promise<CheckedJob> {
  const ended = await untilOver(api, { path: `/jobs/${id}`, schema: checkedJobSchema, pool })
  if (ended.status === "completed") return ended
  throw failed(ended.error, pool)
}

/** Downloads the bytes behind a URL of a record, which redirects to a signed link. */
export async function downloadBytes(api: LiveCheckApi, url: string): Promise<Uint8Array> {
  const response = await send(api, url, {})
  if (!response.ok) throw refused("the download", response.status, await response.text())
  return await response.bytes()
}

type WatchedJob<Record> = { path: string; schema: z.ZodType<Record>; pool: string }

async function untilOver<Record extends { status: CheckedJob["status"] | keyof typeof JOB_STATUS }>(
  api: LiveCheckApi,
  { path, schema, pool }: WatchedJob<Record>,
): Promise<Record> {
  for (;;) {
    const record = await requestLiveCheckJson(api, path, schema, {
      headers: { prefer: `wait=${WAIT_SECONDS}` },
    })
    const state = jobStatusOf(record.status)
    if (state === "completed" || state === "failed") return record
    if (performance.now() > api.untilMs) {
      const description = state === "queued" ? "no runner has begun it" : "it runs and does not end"
      throw new LiveCheckStepError(`the job is still ${state}: ${description}`, {
        job: state,
        pool,
      })
    }
    await sleep(POLL_MS, undefined, { signal: api.signal })
  }
}

function jobStatusOf(status: CheckedJob["status"] | keyof typeof JOB_STATUS): CheckedJob["status"] {
  return status === "pending" || status === "running" || status === "success"
    ? JOB_STATUS[status]
    : status
}

function failed(error: CheckedJob["error"], pool: string): LiveCheckStepError {
  const { code, message } = error ?? { code: "", message: "it has no reason" }
  const evidence: LiveCheckStepEvidence = { job: "failed", code, pool }
  return new LiveCheckStepError(`the job failed as ${code}: ${message}`, evidence)
}

async function send(api: LiveCheckApi, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set("x-api-key", api.key)
  const signal = AbortSignal.any([api.signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  try {
    return await fetch(url, { ...init, headers, signal })
  } catch (error) {
    api.signal.throwIfAborted()
    throw new LiveCheckStepError(
      `${new URL(url).host} does not respond: ${reasonOf(error)}`,
      {},
      {
        cause: error,
      },
    )
  }
}

function refused(request: string, status: number, text: string): LiveCheckStepError {
  const { data } = problem.safeParse(parseJson(text))
  if (!data)
    return new LiveCheckStepError(`${request} was answered ${status}: ${cut(text)}`, { status })
  const { message, details = [], code_name: code = "" } = data
  const description = [message, ...details.map((each) => `${each.field}: ${each.message}`)].join(
    " ",
  )
  const evidence = { status, code, fields: details.map(({ field }) => field) }
  return new LiveCheckStepError(`${request} was answered ${status}: ${cut(description)}`, evidence)
}

/** Returns the beginning of a text on one line, without HTML tags. */
function cut(text: string): string {
  const line = text
    .replaceAll(/<[^>]*>|\s+/g, " ")
    .replaceAll(/ +/g, " ")
    .trim()
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
