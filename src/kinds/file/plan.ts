import { newId } from "../../ids.ts"
import { draftJob } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts } from "../../storage/job-drafts.ts"
import type { ImportUrl } from "../import-url.ts"
import { draftImport } from "../imports.ts"
import type { ImportLimits } from "../imports.ts"
import { draftUpload } from "../uploads.ts"
import type { StoredUpload } from "../uploads.ts"

/** The job of an uploaded file: one task that probes it. */
export function planUpload(stored: StoredUpload, facts: JobFacts): JobDraft {
  const id = newId()
  const made = { jobId: id, fileId: id, key: "file", isOptional: false }
  const { task, file } = draftUpload(facts, stored, made)
  return {
    job: draftJob(facts, { id, kind: "file", request: { name: stored.name } }),
    tasks: [task],
    files: [file],
    uploadId: stored.upload.id,
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
