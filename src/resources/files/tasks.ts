import type { ReceivedFile } from "../../http/multipart.ts"
import { newId } from "../../ids.ts"
import type { JobDraft } from "../../storage/jobs.ts"
import type { FileFields } from "./schema.ts"

/** The job of an uploaded file: one task that probes it. The file has the job's id. */
export function draftOfUpload(
  accountId: string,
  received: ReceivedFile,
  fields: FileFields,
  now: number,
): JobDraft {
  const id = newId()
  const { name, contentType, sizeBytes, upload } = received
  const shared = { accountId, priority: fields.priority, state: "waiting" as const, createdAt: now }
  return {
    job: {
      ...shared,
      id,
      kind: "file",
      version: 0,
      request: { name },
      metadata: fields.metadata ?? null,
    },
    tasks: [
      {
        task: { ...shared, id: newId(), jobId: id, work: { kind: "probe" } },
        inputs: [{ key: "file", fileId: id }],
        blocked: false,
      },
    ],
    files: [
      {
        id,
        accountId,
        jobId: id,
        name,
        contentType,
        sizeBytes,
        source: "upload",
        state: "waiting",
        objectKey: upload.objectKey,
        createdAt: now,
      },
    ],
    uploadId: upload.id,
  }
}
