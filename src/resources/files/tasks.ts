import type { ReceivedFile } from "../../http/multipart.ts"
import { newId } from "../../ids.ts"
import type { JobDraft } from "../../storage/jobs.ts"
import { makeJob, makeTask } from "../../storage/rows.ts"
import type { JobFacts } from "../../storage/rows.ts"

/** The job of an uploaded file: one task that probes it. The file has the job's id. */
export function draftOfUpload(received: ReceivedFile, facts: JobFacts): JobDraft {
  const id = newId()
  const { name, contentType, sizeBytes, upload } = received
  return {
    job: makeJob(facts, { id, kind: "file", request: { name } }),
    tasks: [
      makeTask(facts, {
        jobId: id,
        work: { kind: "probe" },
        inputs: [{ key: "file", fileId: id }],
        blocked: false,
      }),
    ],
    files: [
      {
        id,
        accountId: facts.accountId,
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
