import { z } from "zod"
import { sha256HexSchema } from "../../contract/sha256.ts"
import type { Progress } from "../../domain/progress.ts"
import type { Job, JobResult } from "../../db/schema/jobs.ts"
import {
  buildBundleFields,
  bundleFieldSchemas,
  buildFileUrl,
  outputToLinkableFile,
  buildPublicUrlField,
  publicUrlSchema,
} from "../file-links.ts"
import {
  buildFileIdsField,
  fileIdsFieldSchema,
  buildJobFields,
  jobFieldSchemas,
  buildLogAndStdoutFields,
  logAndStdoutFieldSchemas,
  buildStatusFields,
  statusFieldSchemas,
} from "../shared-record-fields.ts"

const originalRequest = z.looseObject({
  input_files: z.record(z.string(), z.string()).optional(),
  output_files: z.record(z.string(), z.string()).optional(),
  ffmpeg_command: z.string().optional(),
  ffmpeg_commands: z.array(z.string()).optional(),
  truncated: z
    .literal(true)
    .optional()
    .meta({ description: "True if the list omits the fields of a request of more than 16 KB." }),
})

const outputFile = z.object({
  id: z.uuid(),
  name: z.string(),
  download_url: z.url(),
  public_url: publicUrlSchema,
  size_bytes: z.int(),
  content_type: z.string(),
  sha256: sha256HexSchema.optional().meta({
    description: "SHA-256 of the bytes, if the service computed it while it received them.",
  }),
  duration_seconds: z.number().optional(),
  width: z.int().optional().meta({ description: "Width of the displayed picture in pixels." }),
  height: z.int().optional(),
  rotation: z.int().optional().meta({
    description: "Clockwise rotation, in degrees, that players apply to the stored picture.",
  }),
  ...bundleFieldSchemas,
})

/**
 * Schema of the Command record. `output_files` has the names of the outputs by key, and after
 * success also their files.
 */
export const commandRecordSchema = z
  .object({
    ...statusFieldSchemas,
    original_request: originalRequest,
    output_files: z.record(z.string(), z.union([z.string(), outputFile])),
    ...fileIdsFieldSchema,
    total_processing_seconds: z.number().min(0),
    processing_errors: z.array(z.string()).optional(),
    ...jobFieldSchemas,
    ...logAndStdoutFieldSchemas,
  })
  .meta({ id: "Command" })

export type CommandRecord = z.infer<typeof commandRecordSchema>

export function buildCommandRecord(
  base: string,
  job: Job,
  progress: Progress | null,
): CommandRecord {
  const request = originalRequest.parse(job.request)
  const head = buildStatusFields(job)
  return {
    ...head,
    original_request: request.truncated ? { truncated: true } : request,
    output_files:
      job.result && head.status === "success"
        ? viewOutputs(base, job, job.result)
        : (request.output_files ?? {}),
    ...buildFileIdsField(job),
    total_processing_seconds: job.processingMs / 1000,
    ...(head.status === "failed" && {
      processing_errors: [job.errorMessage ?? "The job failed.", ...(job.errorLines ?? [])],
    }),
    ...buildJobFields(job, progress),
    ...buildLogAndStdoutFields(base, job),
  }
}

function viewOutputs(
  base: string,
  job: Job,
  { outputs }: JobResult,
): Record<string, z.infer<typeof outputFile>> {
  return Object.fromEntries(outputs.map((output) => [output.key, viewOutput(base, job, output)]))
}

function viewOutput(
  base: string,
  job: Job,
  output: JobResult["outputs"][number],
): z.infer<typeof outputFile> {
  const linked = outputToLinkableFile(job, output)
  return {
    id: output.fileId,
    name: output.name,
    download_url: buildFileUrl(base, linked),
    ...buildPublicUrlField(base, linked),
    size_bytes: output.sizeBytes,
    content_type: output.contentType,
    ...(output.sha256 !== undefined && { sha256: output.sha256 }),
    ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
    ...(output.width !== undefined && { width: output.width }),
    ...(output.height !== undefined && { height: output.height }),
    ...(output.rotation !== undefined && { rotation: output.rotation }),
    ...buildBundleFields(base, linked),
  }
}
