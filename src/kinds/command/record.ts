import { z } from "zod"
import { sha256Text } from "../../contract/sha256.ts"
import type { Progress } from "../../rpc.ts"
import type { Job, JobResult } from "../../storage/schema/jobs.ts"
import { bundleFields, bundleFieldSchemas, fileUrl } from "../file-links.ts"
import {
  jobFields,
  jobFieldSchemas,
  logField,
  logFieldSchema,
  recordHead,
  recordHeadSchemas,
} from "../record-fields.ts"

const originalRequest = z.looseObject({
  input_files: z.record(z.string(), z.string()).optional(),
  output_files: z.record(z.string(), z.string()).optional(),
  ffmpeg_command: z.string().optional(),
  ffmpeg_commands: z.array(z.string()).optional(),
  truncated: z
    .literal(true)
    .optional()
    .meta({ description: "There alone, in lists, where the request has more than 16 KB." }),
})

const outputFile = z.object({
  id: z.uuid(),
  name: z.string(),
  download_url: z.url(),
  size_bytes: z.int(),
  content_type: z.string(),
  sha256: sha256Text
    .optional()
    .meta({ description: "Of the bytes, where it was computed on their way in." }),
  duration_seconds: z.number().optional(),
  width: z.int().optional().meta({ description: "Of the picture as it is shown, in pixels." }),
  height: z.int().optional(),
  rotation: z
    .int()
    .optional()
    .meta({ description: "Degrees clockwise by which the stored picture is turned to be shown." }),
  ...bundleFieldSchemas,
})

/** The Command record; `output_files` has names by key, and files once the command succeeded. */
export const commandRecord = z
  .object({
    ...recordHeadSchemas,
    original_request: originalRequest,
    output_files: z.record(z.string(), z.union([z.string(), outputFile])),
    total_processing_seconds: z.number().min(0),
    processing_errors: z.array(z.string()).optional(),
    ...jobFieldSchemas,
    ...logFieldSchema,
  })
  .meta({ id: "Command" })

export type CommandRecord = z.infer<typeof commandRecord>

export function viewCommand(base: string, job: Job, progress: Progress | null): CommandRecord {
  const request = originalRequest.parse(job.request)
  const head = recordHead(job)
  return {
    ...head,
    original_request: request.truncated ? { truncated: true } : request,
    output_files:
      job.result && head.status === "success"
        ? viewOutputs(base, job.result)
        : (request.output_files ?? {}),
    total_processing_seconds: job.processingMs / 1000,
    ...(head.status === "failed" && {
      processing_errors: [job.errorMessage ?? "The job failed.", ...(job.errorLines ?? [])],
    }),
    ...jobFields(job, progress),
    ...logField(base, job),
  }
}

function viewOutputs(base: string, result: JobResult): CommandRecord["output_files"] {
  return Object.fromEntries(
    result.outputs.map((output) => [
      output.key,
      {
        id: output.fileId,
        name: output.name,
        download_url: fileUrl(base, { id: output.fileId, name: output.name }),
        size_bytes: output.sizeBytes,
        content_type: output.contentType,
        ...(output.sha256 !== undefined && { sha256: output.sha256 }),
        ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
        ...(output.width !== undefined && { width: output.width }),
        ...(output.height !== undefined && { height: output.height }),
        ...(output.rotation !== undefined && { rotation: output.rotation }),
        ...bundleFields(base, output.fileId, { ...output, members: output.files }),
      },
    ]),
  )
}
