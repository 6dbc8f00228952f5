import { IMPORT_KEY, importTask } from "../contract/tasks/import.ts"
import { probeTask } from "../contract/tasks/probe.ts"
import { draftTask } from "../storage/job-drafts.ts"
import type { JobDraft, JobFacts, TaskDraft } from "../storage/job-drafts.ts"
import type { ImportUrl } from "./import-url.ts"

// What comes from a URL is brought in by a task of the job that needs it, and probed by a second
// one. The File has the id of the task that brings it in.

/** Of the progress of a job: its probe, beside the weight of what comes before and after. */
export const PROBE_WEIGHT = 1

/** What the tasks of an import are limited by. */
export type ImportLimits = { fileBytesMax: number; runSecondsMax: number }

type ImportDraft = { tasks: TaskDraft[]; file: JobDraft["files"][number] }

/** The tasks that bring in a file and probe it, and the file to come. */
export function draftImport(
  facts: JobFacts,
  limits: ImportLimits,
  made: {
    jobId: string
    fileId: string
    source: ImportUrl
    /** By which its job knows it. */
    key: string
    /** Whether the job can do with a file that is no media. */
    isOptional: boolean
    weight: number
  },
): ImportDraft {
  const { jobId, fileId, source, key, isOptional, weight } = made
  const { name, sourceUrl } = source
  const bringIn = draftTask(facts, {
    id: fileId,
    jobId,
    pool: importTask.pool(),
    weight,
    work: {
      kind: importTask.name,
      url: source.url,
      bytes_max: limits.fileBytesMax,
      run_seconds_max: Math.max(limits.runSecondsMax, importTask.runSecondsMin),
      outputs: [{ key: IMPORT_KEY, name }],
    },
    inputs: [],
    blocked: false,
  })
  // Which runner has the disk for it is known once it is there.
  const work = { kind: "probe" as const, input_bytes: 0, is_optional: isOptional }
  const probe = draftTask(facts, {
    jobId,
    pool: probeTask.pool(work),
    weight: PROBE_WEIGHT,
    work,
    inputs: [{ key, fileId }],
    blocked: true,
  })
  const createdAt = facts.now
  const state = "waiting" as const
  const file = { id: fileId, jobId, name, source: "import" as const, sourceUrl, state, createdAt }
  return { tasks: [bringIn, probe], file }
}
