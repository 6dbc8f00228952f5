import { asListed } from "./storage/jobs.ts"
import type { Snapshot } from "./storage/jobs.ts"
import { viewCommand } from "./resources/commands/view.ts"
import { viewFile } from "./resources/files/view.ts"
import { viewJob } from "./resources/jobs/view.ts"
import type { JobKind } from "./contract/state.ts"

/**
 * How a job of each kind looks to its caller, as in lists, so that thousands of files fit the row
 * of a delivery; kinds without a record of their own are Jobs. */
const VIEWS: Partial<Record<JobKind, (base: string, ended: Snapshot) => unknown>> = {
  command: (base, { job }) => viewCommand(base, asListed(job), null),
  file: (base, { job, files }) => {
    const file = files.find(({ id }) => id === job.id)
    return file ? viewFile(base, { file, job }, null) : viewJob(base, job, null)
  },
}

/** The record of a job that is over, as GET answers it under the origin its caller knows. */
export function viewRecord(ended: Snapshot): unknown {
  const base = `${ended.job.origin}/v1`
  return VIEWS[ended.job.kind]?.(base, ended) ?? viewJob(base, ended.job, null)
}
