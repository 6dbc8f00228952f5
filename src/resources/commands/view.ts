import { z } from "zod"
import { fileUrl, viewMember } from "../../http/file-name.ts"
import type { Job, JobResult } from "../../storage/schema.ts"
import { failureFields, jobFields, statusOf, toDateTime } from "../../http/status.ts"
import type { Progress } from "../../http/status.ts"

const stored = z.looseObject({ output_files: z.record(z.string(), z.string()) })

/** The Command record. */
export function viewCommand(base: string, job: Job, progress: Progress | null) {
  const request = stored.parse(job.request)
  const status = statusOf(job.state)
  return {
    id: job.id,
    original_request: request,
    output_files: job.result ? viewOutputs(base, job.result) : request.output_files,
    status,
    total_processing_seconds: job.processingMs / 1000,
    created_at: toDateTime(job.createdAt),
    ...(status === "failed" && {
      processing_errors: [job.errorMessage ?? "The job failed.", ...(job.errorLines ?? [])],
    }),
    ...jobFields(job, progress),
    ...failureFields(job),
  }
}

function viewOutputs(base: string, result: JobResult) {
  return Object.fromEntries(
    result.outputs.map((output) => [
      output.key,
      {
        id: output.fileId,
        name: output.name,
        download_url: fileUrl(base, { id: output.fileId, name: output.name }),
        size_bytes: output.sizeBytes,
        content_type: output.contentType,
        ...(output.durationSeconds !== undefined && { duration_seconds: output.durationSeconds }),
        ...(output.width !== undefined && { width: output.width }),
        ...(output.height !== undefined && { height: output.height }),
        ...(output.files && {
          files: output.files.map((member) => viewMember(base, output.fileId, member)),
        }),
      },
    ]),
  )
}
