import { probeTaskDefinition } from "../contract/tasks/probe.ts"
import { draftTask } from "../domain/job-draft.ts"
import type { JobDraft, JobProperties, TaskDraft } from "../domain/job-draft.ts"

/** Uploaded file whose bytes are already stored in R2. `upload` is the row of the upload. */
export type StoredUpload = {
  upload: { id: string; objectKey: string }
  name: string
  contentType: string
  sizeBytes: number
  /** SHA-256 of the file's bytes, in hexadecimal; null if the bytes came in several requests. */
  sha256: string | null
}

/** Drafts the database rows of an uploaded file and of the task that probes the file. */
export function draftUpload(
  facts: JobProperties,
  stored: StoredUpload,
  input: {
    jobId: string
    fileId: string
    /** Key of the input in the request of the job that reads the upload. */
    key: string
    /** Whether the job continues if the uploaded file is not media. */
    isOptional: boolean
  },
): { task: TaskDraft; file: JobDraft["files"][number] } {
  const { jobId, fileId, key, isOptional } = input
  const { name, contentType, sizeBytes, sha256, upload } = stored
  const work = { kind: "probe" as const, input_bytes: sizeBytes, is_optional: isOptional }
  const task = draftTask(facts, {
    jobId,
    pool: probeTaskDefinition.pool(work),
    work,
    inputs: [{ key, fileId }],
    blocked: false,
  })
  const file = {
    id: fileId,
    jobId,
    name,
    contentType,
    sizeBytes,
    sha256,
    source: "upload" as const,
    state: "waiting" as const,
    objectKey: upload.objectKey,
    createdAt: facts.now,
  }
  return { task, file }
}
