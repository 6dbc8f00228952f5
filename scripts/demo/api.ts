import { openAsBlob } from "node:fs"
import { writeFile } from "node:fs/promises"
import { basename } from "node:path"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { probeResult } from "../../src/contract/probe.ts"
import { CliError } from "../local/cli-error.ts"

const POLL_MS = 60

/** The API's base URL with its version, a key, and what aborts requests. */
export type Api = { base: string; key: string; signal: AbortSignal }

const status = z.enum(["pending", "running", "success", "failed"])
const jobFields = { status, progress: z.number().optional(), error: z.string().optional() }
const output = z.object({ id: z.string() })

const fileRecord = z.object({
  ...jobFields,
  id: z.string(),
  name: z.string(),
  size_bytes: z.number(),
  download_url: z.string(),
  ffprobe: probeResult.optional(),
})
const commandRecord = z.object({
  ...jobFields,
  output_files: z.object({ out_1: z.union([output, z.string()]) }),
})
const created = z.object({ command_id: z.string() })
const problem = z.object({ message: z.string() })

export type FileRecord = z.infer<typeof fileRecord>

/** Uploads a file and waits until it is probed; throws a CliError where that fails. */
export async function uploadFile(api: Api, path: string): Promise<FileRecord> {
  const form = new FormData()
  form.set("file", await openAsBlob(path), basename(path))
  const { id } = fileRecord.parse(await askJson(api, "/files", { method: "POST", body: form }))
  const record = await untilFinal(api, async () => await readFileRecord(api, id))
  if (record.status === "success") return record
  throw new CliError(`${basename(path)}: ${record.error ?? "it could not be probed."}`)
}

export async function readFileRecord(api: Api, id: string): Promise<FileRecord> {
  return fileRecord.parse(await askJson(api, `/files/${id}`))
}

/** Runs one command on one file; reports the job's progress in percent until it ends. */
export async function runCommand(
  api: Api,
  fileId: string,
  { command, outputName }: { command: string; outputName: string },
  onProgress: (percent: number) => void,
): Promise<{ outputId: string } | { failure: string }> {
  const body = {
    ffmpeg_command: command,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: outputName },
  }
  const answer = await askJson(api, "/commands", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  const path = `/commands/${created.parse(answer).command_id}`
  const record = await untilFinal(api, async () => {
    const now = commandRecord.parse(await askJson(api, path))
    if (now.status !== "failed") onProgress(now.progress ?? 0)
    return now
  })
  const { out_1: made } = record.output_files
  if (record.status === "success" && typeof made !== "string") return { outputId: made.id }
  return { failure: record.error ?? "It ended without a result." }
}

/** Downloads what a download_url redirects to. */
export async function download(api: Api, url: string, path: string): Promise<void> {
  const response = await send(api, url, {})
  if (!response.ok || !response.body) throw await refusal(response)
  await writeFile(path, response.body, { signal: api.signal })
}

async function untilFinal<Record extends { status: z.infer<typeof status> }>(
  api: Api,
  read: () => Promise<Record>,
): Promise<Record> {
  return await pWaitFor<Record>(
    async () => {
      const record = await read()
      const isFinal = record.status === "success" || record.status === "failed"
      return isFinal && pWaitFor.resolveWith(record)
    },
    { interval: POLL_MS, signal: api.signal },
  )
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
  return new CliError(data?.message ?? `The service answered with status ${response.status}.`)
}
