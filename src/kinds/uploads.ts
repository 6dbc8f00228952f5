import { probeTask } from "../contract/tasks/probe.ts"
import { draftTask } from "../storage/job-drafts.ts"
import type { JobDraft, JobFacts, TaskDraft } from "../storage/job-drafts.ts"

/** A file whose bytes are stored already, by the upload that holds them. */
export type StoredUpload = {
  upload: { id: string; objectKey: string }
  name: string
  contentType: string
  sizeBytes: number
  /** Of its bytes, hexadecimal. */
  sha256: string
}

/** The row of a file whose bytes are stored, and the task that probes it. */
export function draftUpload(
  facts: JobFacts,
  stored: StoredUpload,
  made: {
    jobId: string
    fileId: string
    /** By which its job knows it. */
    key: string
    /** Whether the job can do with a file that is no media. */
    isOptional: boolean
  },
): { task: TaskDraft; file: JobDraft["files"][number] } {
  const { jobId, fileId, key, isOptional } = made
  const { name, contentType, sizeBytes, sha256, upload } = stored
  const work = { kind: "probe" as const, input_bytes: sizeBytes, is_optional: isOptional }
  const task = draftTask(facts, {
    jobId,
    pool: probeTask.pool(work),
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
