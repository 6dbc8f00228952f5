import { newId } from "../../platform/ids.ts"
import { draftJobRow } from "../../domain/job-draft.ts"
import type { JobDraft, JobProperties } from "../../domain/job-draft.ts"
import type { ImportUrl } from "../import-url.ts"
import { draftImport } from "../imports.ts"
import type { ImportLimits } from "../imports.ts"
import { draftUpload } from "../uploads.ts"
import type { StoredUpload } from "../uploads.ts"

/** Drafts the job of an uploaded file, which has the id of the file: one task that probes it. */
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

/** Share of the import in the progress of the job, in percent. The probe has the rest. */
const IMPORT_WEIGHT = 99

/** Drafts the job of a file from a URL: one task imports the file, and one probes the file. */
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
