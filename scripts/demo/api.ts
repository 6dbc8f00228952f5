import { openAsBlob } from "node:fs"
import { writeFile } from "node:fs/promises"
import { basename } from "node:path"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { CliError } from "../local/cli-error.ts"

const POLL_MS = 60
/** What installs a tool that the service misses, or says why it cannot. */
const HELP = "`npm run setup` installs what is missing, or says what to do."

/** The API's base URL with its version, a key, and what aborts requests. */
export type Api = { base: string; key: string; signal: AbortSignal }

const status = z.enum(["pending", "running", "success", "failed"])

/** What the records of all kinds of work have. */
export const jobFields = {
  status,
  progress: z.number().nullish(),
  error: z.string().optional(),
}

type JobRecord = z.infer<z.ZodObject<typeof jobFields>>

const problem = z.object({ message: z.string(), code_name: z.string().optional() })

/** Sends a file as the field `file` and returns the answer. */
export async function postFile(api: Api, path: string, file: string): Promise<unknown> {
  const form = new FormData()
  form.set("file", await openAsBlob(file), basename(file))
  return await askJson(api, path, { method: "POST", body: form })
}

/** Sends a JSON body and returns the answer. */
export async function postJson(api: Api, path: string, body: object): Promise<unknown> {
  return await askJson(api, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
}

/** Reads the record of a path. */
export async function readRecord<Record>(
  api: Api,
  path: string,
  schema: z.ZodType<Record>,
): Promise<Record> {
  return schema.parse(await askJson(api, path))
}

/** Reads a record until it is final; reports the job's progress in percent meanwhile. */
export async function untilFinal<Record extends JobRecord>(
  read: () => Promise<Record>,
  signal: AbortSignal,
  onProgress: (percent: number) => void = () => undefined,
): Promise<Record> {
  return await pWaitFor<Record>(
    async () => {
      const record = await read()
      if (record.status !== "failed") onProgress(record.progress ?? 0)
      const isFinal = record.status === "success" || record.status === "failed"
      return isFinal && pWaitFor.resolveWith(record)
    },
    { interval: POLL_MS, signal },
  )
}

/** Downloads what a URL of a record redirects to. */
export async function download(api: Api, url: string, path: string): Promise<void> {
  const response = await send(api, url, {})
  if (!response.ok || !response.body) throw await refusal(response)
  await writeFile(path, response.body, { signal: api.signal })
}

async function askJson(api: Api, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await send(api, api.base + path, init)
  if (!response.ok) throw await refusal(response)
  return await response.json()
}

async function send(api: Api, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set("x-api-key", api.key)
  try {
    return await fetch(url, { ...init, headers, signal: api.signal })
  } catch (error) {
    throw new CliError("The service stopped answering.", { cause: error })
  }
}

async function refusal(response: Response): Promise<CliError> {
  const { data } = problem.safeParse(await response.json().catch(() => null))
  if (!data) return new CliError(`The service answered with status ${response.status}.`)
  return new CliError(data.code_name === "tool_missing" ? `${data.message} ${HELP}` : data.message)
}
