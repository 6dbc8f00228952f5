import { importTaskDefinition } from "../../contract/tasks/import.ts"
import { probeTaskDefinition } from "../../contract/tasks/probe.ts"
import type { File } from "../../db/schema/files.ts"
import type { Job, JobResult } from "../../db/schema/jobs.ts"
import type { Kind } from "../kind.ts"
import { toOutputResult } from "../outputs.ts"
import { computeJobExpiry } from "../shared-record-fields.ts"
import { fileRecordSchema, buildFileRecord } from "./record.ts"

const OUTPUT_KEY = "file"

/**
 * Kind of job that imports and probes a file of the account. The file and its job have the same id.
 */
export const fileKind = {
  name: "file",
  path: "files",
  title: "file",
  tasks: [importTaskDefinition, probeTaskDefinition],
  inputField: () => "file_url",
  finish: ({ job, files }) => ({ files: [], result: { outputs: files.flatMap(outputOf(job)) } }),
  record: fileRecordSchema,
  view(base, { job, files }, progress) {
    const own = files.find(({ id }) => id === job.id)
    if (!own) throw new Error(`the job ${job.id} of a file has no file`)
    return buildFileRecord(base, { file: own, job, expiresAt: computeJobExpiry(job) }, progress)
  },
} as const satisfies Kind<typeof fileRecordSchema>

/**
 * Returns a function that lists the job's own file as its only output. For any other file, and for
 * a file that is not stored, the function returns an empty list.
 */
function outputOf(job: Job): (file: File) => JobResult["outputs"] {
  return (file) => {
    const { id, sizeBytes, contentType, sha256, probe } = file
    if (id !== job.id || sizeBytes === null || contentType === null) return []
    const stored = { key: OUTPUT_KEY, size_bytes: sizeBytes, content_type: contentType }
    const known = { ...(sha256 !== null && { sha256 }), ...(probe && { probe }) }
    return [toOutputResult(file, { ...stored, ...known })]
  }
}
