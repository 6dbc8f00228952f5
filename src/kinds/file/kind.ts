import { importTask } from "../../contract/tasks/import.ts"
import { probeTask } from "../../contract/tasks/probe.ts"
import type { File } from "../../storage/schema/files.ts"
import type { Job, JobResult } from "../../storage/schema/jobs.ts"
import type { Kind } from "../kind.ts"
import { outputResult } from "../outputs.ts"
import { expiryOf } from "../record-fields.ts"
import { fileRecord, viewFile } from "./record.ts"

const OUTPUT_KEY = "file"

/** A stored file of the account; its job brings it in where it comes from a URL, and probes it. The file has the job's id. */
export const file = {
  name: "file",
  path: "files",
  title: "file",
  tasks: [importTask, probeTask],
  inputField: (key) => key,
  finish: ({ job, files }) => ({ files: [], result: { outputs: files.flatMap(outputOf(job)) } }),
  record: fileRecord,
  view(base, { job, files }, progress) {
    const own = files.find(({ id }) => id === job.id)
    if (!own) throw new Error(`the job ${job.id} of a file has no file`)
    return viewFile(base, { file: own, job, expiresAt: expiryOf(job) }, progress)
  },
} as const satisfies Kind<typeof fileRecord>

/** The output of a file's job is the file itself. */
function outputOf(job: Job): (file: File) => JobResult["outputs"] {
  return (file) => {
    const { id, sizeBytes, contentType, probe } = file
    if (id !== job.id || sizeBytes === null || contentType === null) return []
    const stored = { key: OUTPUT_KEY, size_bytes: sizeBytes, content_type: contentType }
    return [outputResult(file, { ...stored, ...(probe && { probe }) })]
  }
}
