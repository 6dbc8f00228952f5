import { openAsBlob } from "node:fs"
import { writeFile } from "node:fs/promises"
import { basename } from "node:path"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"

const POLL_MS = 60
/** Advice that is added to the service's message about a missing tool. */
const HELP = "`npm run setup` installs missing programs, or names the remedy."

/**
 * Access to the API: its base URL with the version, an API key, and the signal that aborts
 * requests.
 */
export type DemoApi = { base: string; key: string; signal: AbortSignal }

const status = z.enum(["pending", "running", "success", "failed"])

/** Schema fields that the records of all kinds of jobs have. */
export const demoJobFields = {
  status,
  progress: z.number().nullish(),
  error: z.string().optional(),
}

type JobRecord = z.infer<z.ZodObject<typeof demoJobFields>>

const problem = z.object({ message: z.string(), code_name: z.string().optional() })

/** Posts a file as the multipart field `file`. Returns the parsed response. */
export async function postDemoFile(api: DemoApi, path: string, file: string): Promise<unknown> {
  const form = new FormData()
  form.set("file", await openAsBlob(file), basename(file))
  return await askJson(api, path, { method: "POST", body: form })
}

/** Posts a JSON body. Returns the parsed response. */
export async function postDemoJson(api: DemoApi, path: string, body: object): Promise<unknown> {
  return await askJson(api, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
}

/** Requests the record of a job or file at a path of the API. */
export async function readDemoRecord<Record>(
  api: DemoApi,
  path: string,
  schema: z.ZodType<Record>,
): Promise<Record> {
  return schema.parse(await askJson(api, path))
}

/**
 * Polls a record until its status is final. Calls `onProgress` with the job's progress in percent
 * meanwhile.
 */
export async function waitForFinalDemoRecord<Record extends JobRecord>(
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

/**
 * Yields the record at a path at once and after each change, by server-sent events, until the
 * caller stops reading. Connects again whenever a stream ends.
 */
export async function* streamRecordChanges<Record>(
  api: DemoApi,
  path: string,
  schema: z.ZodType<Record>,
): AsyncGenerator<Record> {
  for (;;) {
    const response = await send(api, `${api.base}${path}/events`, {})
    if (!response.ok || !response.body) throw await refusal(response)
    let unread = ""
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (unread + chunk).split("\n\n")
      unread = events.pop() ?? ""
      for (const event of events) {
        const [, data] = /^data: (.*)$/m.exec(event) ?? []
        if (data !== undefined) yield schema.parse(JSON.parse(data))
      }
    }
  }
}

/** Downloads the file behind a URL of a job or file record to a local path. */
export async function downloadToFile(api: DemoApi, url: string, path: string): Promise<void> {
  const response = await send(api, url, {})
  if (!response.ok || !response.body) throw await refusal(response)
  await writeFile(path, response.body, { signal: api.signal })
}

async function askJson(api: DemoApi, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await send(api, api.base + path, init)
  if (!response.ok) throw await refusal(response)
  return await response.json()
}

async function send(api: DemoApi, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set("x-api-key", api.key)
  try {
    return await fetch(url, { ...init, headers, signal: api.signal })
  } catch (error) {
    throw new CliError("The service no longer responds.", { cause: error })
  }
}

async function refusal(response: Response): Promise<CliError> {
  const { data } = problem.safeParse(await response.json().catch(() => null))
  if (!data) return new CliError(`The service returned status ${response.status}.`)
  return new CliError(data.code_name === "tool_missing" ? `${data.message} ${HELP}` : data.message)
}
