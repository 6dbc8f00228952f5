import { importTask } from "../../contract/tasks/import.ts"
import { probeTask } from "../../contract/tasks/probe.ts"
import type { Kind } from "../kind.ts"
import { fileRecord, viewFile } from "./record.ts"

/** A stored file of the account; its job brings it in where it comes from a URL, and probes it. The file has the job's id. */
export const file = {
  name: "file",
  path: "files",
  title: "file",
  tasks: [importTask, probeTask],
  inputField: (key) => key,
  finish: () => ({ files: [], result: { outputs: [] } }),
  record: fileRecord,
  view(base, { job, files }, progress) {
    const own = files.find(({ id }) => id === job.id)
    if (!own) throw new Error(`the job ${job.id} of a file has no file`)
    return viewFile(base, { file: own, job }, progress)
  },
} as const satisfies Kind<typeof fileRecord>
