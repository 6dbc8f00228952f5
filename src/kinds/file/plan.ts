import { probeTask } from "../../contract/tasks/probe.ts"
import { newId } from "../../ids.ts"
import { draftJob, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts } from "../../storage/job-drafts.ts"
import type { ImportUrl } from "../import-url.ts"
import { draftImport } from "../imports.ts"
import type { ImportLimits } from "../imports.ts"

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

/** Of the progress of a file's job; its probe is the rest. */
const IMPORT_WEIGHT = 99

/** The job of a file that a URL names: a task that brings it in, and one that probes it then. */
export function planImport(source: ImportUrl, facts: JobFacts & ImportLimits): JobDraft {
  const id = newId()
  const { tasks, file } = draftImport(facts, facts, {
    jobId: id,
    fileId: id,
    source,
    key: "file",
    isOptional: false,
    weight: IMPORT_WEIGHT,
  })
  const request = { file_url: source.sourceUrl }
  return { job: draftJob(facts, { id, kind: "file", request }), tasks, files: [file] }
}
