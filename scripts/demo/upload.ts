import { basename } from "node:path"
import { z } from "zod"
import { CliError } from "../cli/cli-error.ts"
import { probeResultSchema } from "../../src/contract/probe.ts"
import { demoJobFields, postDemoFile, readDemoRecord, waitForFinalDemoRecord } from "./api.ts"
import type { DemoApi } from "./api.ts"

const fileRecord = z.object({
  ...demoJobFields,
  id: z.string(),
  name: z.string(),
  size_bytes: z.number(),
  download_url: z.string(),
  ffprobe: probeResultSchema.nullable(),
})

export type FileRecord = z.infer<typeof fileRecord>

/** Uploads a file and waits until the file is probed. Throws a CliError if the probe fails. */
export async function uploadFile(api: DemoApi, path: string): Promise<FileRecord> {
  const { id } = fileRecord.parse(await postDemoFile(api, "/files", path))
  const record = await waitForFinalDemoRecord(async () => await readFileRecord(api, id), api.signal)
  if (record.status === "success") return record
  throw new CliError(`${basename(path)}: ${record.error ?? "it could not be probed."}`)
}

/** Requests the record of an uploaded file by the file's id. */
export async function readFileRecord(api: DemoApi, id: string): Promise<FileRecord> {
  return await readDemoRecord(api, `/files/${id}`, fileRecord)
}
