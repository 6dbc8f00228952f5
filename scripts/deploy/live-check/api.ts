import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { StepError } from "./step-error.ts"
import type { Evidence } from "./step-error.ts"

const ANSWER_MS_MAX = 60_000
/** The service holds an answer back so long while a job goes on. */
const WAIT_SECONDS = 10
const POLL_MS = 250
const SHOWN_CHARACTERS = 300

/** The interface of a service with the key of the check, for one step. */
export type CheckApi = {
  /** Origin of the service, without /v1. */
  origin: string
  key: string
  /** Aborted where the whole check is to end. */
  signal: AbortSignal
  /** When the step has lasted too long, by `performance.now()`. */
  untilMs: number
}

const problem = z.object({
  message: z.string(),
  code_name: z.string().optional(),
  details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

export const job = z.looseObject({
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

export type Job = z.infer<typeof job>

/** Status words of records that are no Job. */
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

/** Asks for JSON; throws a StepError where the answer is an error, or is no such JSON. */
export async function askJson<Value>(
  api: CheckApi,
  path: string,
  schema: z.ZodType<Value>,
  init: RequestInit = {},
): Promise<Value> {
  const response = await send(api, `${api.origin}/v1${path}`, init)
  const text = await response.text()
  const method = init.method ?? "GET"
  if (!response.ok) throw refused(`${method} /v1${path}`, response.status, text)
  const { data } = schema.safeParse(parse(text))
  if (data !== undefined) return data
  throw new StepError(`${method} /v1${path} was answered by something else: ${cut(text)}`)
}

/** Sends a JSON body and returns the answer. */
export async function postJson<Value>(
  api: CheckApi,
  path: string,
  schema: z.ZodType<Value>,
  body: object,
): Promise<Value> {
  const headers = { "content-type": "application/json" }
  return await askJson(api, path, schema, { method: "POST", headers, body: JSON.stringify(body) })
}

/** Uploads bytes as a file and waits until it is probed. */
export async function uploadProbed(
  api: CheckApi,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<CheckedFile> {
  const form = new FormData()
  form.set("file", new Blob([bytes]), name)
  const { id } = await askJson(api, "/files", file, { method: "POST", body: form })
  const probed = await untilOver(api, { path: `/files/${id}`, schema: file, pool: "light" })
  if (probed.status === "success") return probed
  throw failed({ code: probed.error_code ?? "", message: probed.error ?? "" }, "light")
}

/** Waits for the end of a job; throws a StepError where it failed or does not end in time. */
export async function untilCompleted(api: CheckApi, id: string, pool: string): Promise<Job> {
  const ended = await untilOver(api, { path: `/jobs/${id}`, schema: job, pool })
  if (ended.status === "completed") return ended
  throw failed(ended.error, pool)
}

/** The bytes behind a URL of a record, which redirects to a signed link. */
export async function download(api: CheckApi, url: string): Promise<Uint8Array> {
  const response = await send(api, url, {})
  if (!response.ok) throw refused("the download", response.status, await response.text())
  return await response.bytes()
}

type Watched<Record> = { path: string; schema: z.ZodType<Record>; pool: string }

async function untilOver<Record extends { status: Job["status"] | keyof typeof JOB_STATUS }>(
  api: CheckApi,
  { path, schema, pool }: Watched<Record>,
): Promise<Record> {
  for (;;) {
    const record = await askJson(api, path, schema, {
      headers: { prefer: `wait=${WAIT_SECONDS}` },
    })
    const state = jobStatusOf(record.status)
    if (state === "completed" || state === "failed") return record
    if (performance.now() > api.untilMs) {
      const said = state === "queued" ? "no runner has begun it" : "it runs and does not end"
      throw new StepError(`the job is still ${state}: ${said}`, { job: state, pool })
    }
    await sleep(POLL_MS, undefined, { signal: api.signal })
  }
}

function jobStatusOf(status: Job["status"] | keyof typeof JOB_STATUS): Job["status"] {
  return status === "pending" || status === "running" || status === "success"
    ? JOB_STATUS[status]
    : status
}

function failed(error: Job["error"], pool: string): StepError {
  const { code, message } = error ?? { code: "", message: "it does not say why" }
  const evidence: Evidence = { job: "failed", code, pool }
  return new StepError(`the job failed as ${code}: ${message}`, evidence)
}

async function send(api: CheckApi, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set("x-api-key", api.key)
  const signal = AbortSignal.any([api.signal, AbortSignal.timeout(ANSWER_MS_MAX)])
  try {
    return await fetch(url, { ...init, headers, signal })
  } catch (error) {
    api.signal.throwIfAborted()
    throw new StepError(
      `${new URL(url).host} does not answer: ${reasonOf(error)}`,
      {},
      {
        cause: error,
      },
    )
  }
}

function refused(asked: string, status: number, text: string): StepError {
  const { data } = problem.safeParse(parse(text))
  if (!data) return new StepError(`${asked} was answered ${status}: ${cut(text)}`, { status })
  const { message, details = [], code_name: code = "" } = data
  const said = [message, ...details.map((each) => `${each.field}: ${each.message}`)].join(" ")
  const evidence = { status, code, fields: details.map(({ field }) => field) }
  return new StepError(`${asked} was answered ${status}: ${cut(said)}`, evidence)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The begin of a text, on one line. */
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
