import { fileUrl, viewMember } from "../../http/file-name.ts"
import type { FileWithJob } from "../../storage/files.ts"
import { failureFields, jobFields, statusOf, toDateTime } from "../../http/status.ts"
import type { Progress } from "../../http/status.ts"

/** The File record. */
export function viewFile(base: string, { file, job }: FileWithJob, progress: Progress | null) {
  return {
    id: file.id,
    name: file.name,
    source: file.source,
    status: statusOf(file.state),
    created_at: toDateTime(file.createdAt),
    download_url: fileUrl(base, file),
    size_bytes: file.sizeBytes,
    content_type: file.contentType,
    ...(file.bundle?.durationSeconds !== undefined && {
      duration_seconds: file.bundle.durationSeconds,
    }),
    ...(file.bundle?.members && {
      files: file.bundle.members.map((member) => viewMember(base, file.id, member)),
    }),
    ...(file.probe && { ffprobe: file.probe }),
    ...(file.probeError !== null && { ffprobe_error: file.probeError }),
    ...(job && jobFields(job, progress)),
    ...failureFields(file),
  }
}
