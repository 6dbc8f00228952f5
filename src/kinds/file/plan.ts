import { newId } from "../../platform/ids.ts"
import { draftJobRow } from "../../domain/job-draft.ts"
import type { JobDraft, JobProperties } from "../../domain/job-draft.ts"
import type { ImportUrl } from "../import-url.ts"
import { draftImport } from "../imports.ts"
import type { ImportLimits } from "../imports.ts"
import { draftUpload } from "../uploads.ts"
import type { StoredUpload } from "../uploads.ts"

/**
 * Drafts the database rows of an uploaded file's job: a single task, which probes the file. The job
 * and the file have the same id.
 */
export function draftUploadJob(stored: StoredUpload, facts: JobProperties, id = newId()): JobDraft {
  const input = { jobId: id, fileId: id, key: "file", isOptional: false }
  const { task, file } = draftUpload(facts, stored, input)
  return {
    job: draftJobRow(facts, { id, kind: "file", request: { name: stored.name } }),
    tasks: [task],
    files: [file],
    uploadId: stored.upload.id,
  }
}

/**
 * Weight of the import in the progress of its job, in percent. The probe has the remaining percent.
 */
const IMPORT_WEIGHT = 99

/**
 * Drafts the database rows of a job for a file from a URL: a task that imports the file, and
 * another task that probes the file.
 */
export function draftImportJob(source: ImportUrl, facts: JobProperties & ImportLimits): JobDraft {
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
  return { job: draftJobRow(facts, { id, kind: "file", request }), tasks, files: [file] }
}
