import { basename } from "node:path"
import { z } from "zod"
import { probeResult } from "../../../src/contract/probe.ts"
import { CliError } from "../../local/cli-error.ts"
import { jobFields, postFile, postJson, readRecord, untilFinal } from "../api.ts"
import type { Api } from "../api.ts"

const fileRecord = z.object({
  ...jobFields,
  id: z.string(),
  name: z.string(),
  size_bytes: z.number(),
  download_url: z.string(),
  ffprobe: probeResult.optional(),
})
const output = z.object({ id: z.string() })
const commandRecord = z.object({
  ...jobFields,
  output_files: z.object({ out_1: z.union([output, z.string()]) }),
})
const created = z.object({ command_id: z.string() })

export type FileRecord = z.infer<typeof fileRecord>

/** Uploads a file and waits until it is probed; throws a CliError where that fails. */
export async function uploadFile(api: Api, path: string): Promise<FileRecord> {
  const { id } = fileRecord.parse(await postFile(api, "/files", path))
  const record = await untilFinal(async () => await readFileRecord(api, id), api.signal)
  if (record.status === "success") return record
  throw new CliError(`${basename(path)}: ${record.error ?? "it could not be probed."}`)
}

export async function readFileRecord(api: Api, id: string): Promise<FileRecord> {
  return await readRecord(api, `/files/${id}`, fileRecord)
}

/** Runs one command on one file; reports the job's progress in percent until it ends. */
export async function runCommand(
  api: Api,
  fileId: string,
  { command, outputName }: { command: string; outputName: string },
  onProgress: (percent: number) => void,
): Promise<{ outputId: string } | { failure: string }> {
  const answer = await postJson(api, "/commands", {
    ffmpeg_command: command,
    input_files: { in_1: `svc_id://${fileId}` },
    output_files: { out_1: outputName },
  })
  const path = `/commands/${created.parse(answer).command_id}`
  const record = await untilFinal(
    async () => await readRecord(api, path, commandRecord),
    api.signal,
    onProgress,
  )
  const { out_1: made } = record.output_files
  if (record.status === "success" && typeof made !== "string") return { outputId: made.id }
  return { failure: record.error ?? "It ended without a result." }
}
