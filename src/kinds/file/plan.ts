import { probeTask } from "../../contract/tasks/probe.ts"
import { newId } from "../../ids.ts"
import { draftJob, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts } from "../../storage/job-drafts.ts"

/** A file whose bytes are stored already, by the upload that holds them. */
export type StoredUpload = {
  upload: { id: string; objectKey: string }
  name: string
  contentType: string
  sizeBytes: number
}

/** The job of an uploaded file: one task that probes it. */
export function planUpload(stored: StoredUpload, facts: JobFacts): JobDraft {
  const id = newId()
  const { name, contentType, sizeBytes, upload } = stored
  const work = { kind: "probe" as const, input_bytes: sizeBytes }
  return {
    job: draftJob(facts, { id, kind: "file", request: { name } }),
    tasks: [
      draftTask(facts, {
        jobId: id,
        pool: probeTask.pool(work),
        work,
        inputs: [{ key: "file", fileId: id }],
        blocked: false,
      }),
    ],
    files: [
      {
        id,
        jobId: id,
        name,
        contentType,
        sizeBytes,
        source: "upload",
        state: "waiting",
        objectKey: upload.objectKey,
        createdAt: facts.now,
      },
    ],
    uploadId: upload.id,
  }
}
