import { basename } from "node:path"
import pWaitFor from "p-wait-for"
import { z } from "zod"
import { makeFileBody, makeJsonBody } from "./caller.ts"
import type { SizedRequestBody, ApiCaller } from "./caller.ts"
import { readMediaBody } from "./media.ts"

const POLL_MS = 5
const FINAL_MS_MAX = 90_000

const createdCommand = z.object({ command_id: z.string() })
const record = z.object({
  id: z.string(),
  status: z.string(),
  error: z.string().optional(),
  ffprobe: z.unknown().optional(),
  download_url: z.string().optional(),
})
const records = z.array(record)

export type ApiRecord = z.infer<typeof record>

export type NewCommandRequest = {
  ffmpeg_command: string
  input_files: Record<string, string>
  output_files: Record<string, string>
  webhook?: string
}

/** Submits a command and returns the command's id. */
export async function submitCommand(caller: ApiCaller, order: NewCommandRequest): Promise<string> {
  const answer = await caller.ask("POST", "/v1/commands", makeJsonBody(order))
  return createdCommand.parse(JSON.parse(answer.text)).command_id
}

/** Uploads a file and returns its record from the response. */
export async function uploadFile(
  caller: ApiCaller,
  name: string,
  file: Pick<SizedRequestBody, "sizeBytes" | "chunks">,
  headers: Record<string, string> = {},
): Promise<ApiRecord> {
  const answer = await caller.ask("POST", "/v1/files", makeFileBody(name, file), headers)
  return record.parse(JSON.parse(answer.text))
}

/**
 * Polls the record of a job or file until its status is final, every 5 ms by default. Returns the
 * final record.
 */
export async function waitUntilFinal(
  caller: ApiCaller,
  path: `/v1/${"files" | "commands" | "fetch" | "normalize" | "transcribe"}/${string}`,
  { pollMs = POLL_MS, timeLimitMs = FINAL_MS_MAX }: { pollMs?: number; timeLimitMs?: number } = {},
): Promise<ApiRecord> {
  return await pWaitFor<ApiRecord>(
    async () => {
      const found = record.parse(JSON.parse((await caller.ask("GET", path)).text))
      return ["success", "failed"].includes(found.status) && pWaitFor.resolveWith(found)
    },
    {
      interval: pollMs,
      timeout: { milliseconds: timeLimitMs, message: `${path} is not final yet` },
    },
  )
}

/**
 * Polls the record of a job or file until its status is final, and returns the final record. Throws
 * if the status is `failed`.
 */
export async function waitUntilSuccess(
  ...call: Parameters<typeof waitUntilFinal>
): Promise<ApiRecord> {
  const found = await waitUntilFinal(...call)
  if (found.status === "success") return found
  throw new Error(`${call[1]} failed: ${found.error}`)
}

/** Uploads a local file and waits until the file is probed. Returns the file's id. */
export async function uploadMedia(caller: ApiCaller, path: string): Promise<string> {
  const { id } = await uploadFile(caller, basename(path), await readMediaBody(path))
  await waitUntilSuccess(caller, `/v1/files/${id}`)
  return id
}

/** Returns all commands of an account, from all pages of the list. */
export async function listCommands(caller: ApiCaller): Promise<ApiRecord[]> {
  const found: ApiRecord[] = []
  let path: string | undefined = "/v1/commands?limit=100"
  while (path !== undefined) {
    const { text, link } = await caller.ask("GET", path)
    found.push(...records.parse(JSON.parse(text)))
    const next: string | undefined = /<([^>]+)>; rel="next"/.exec(link ?? "")?.[1]
    path = next && new URL(next).pathname + new URL(next).search
  }
  return found
}
