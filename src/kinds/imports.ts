import { IMPORT_OUTPUT_KEY, importTaskDefinition } from "../contract/tasks/import.ts"
import { probeTaskDefinition } from "../contract/tasks/probe.ts"
import { draftTask } from "../domain/job-draft.ts"
import type { JobDraft, JobProperties, TaskDraft } from "../domain/job-draft.ts"
import type { ImportUrl } from "./import-url.ts"

// An input that is a URL gives the job two tasks: an import, then a probe. The imported file has
// the same id as the import task.

/** Weight of a probe in the progress of a job, relative to the weights of the job's other tasks. */
export const PROBE_PROGRESS_WEIGHT = 1

export type ImportLimits = { fileBytesMax: number; runSecondsMax: number }

type ImportDraft = { tasks: TaskDraft[]; file: JobDraft["files"][number] }

/**
 * Makes, without storing them, the database row of a file and two tasks: the first imports the
 * file, the second probes it.
 */
export function draftImport(
  facts: JobProperties,
  limits: ImportLimits,
  input: {
    jobId: string
    fileId: string
    source: ImportUrl
    /** Key of the input in its job's request. */
    key: string
    /** Whether the job continues if the imported file is not media. */
    isOptional: boolean
    weight: number
  },
): ImportDraft {
  const { jobId, fileId, source, key, isOptional, weight } = input
  const { name, sourceUrl, headers } = source
  const importDraft = draftTask(facts, {
    id: fileId,
    jobId,
    pool: importTaskDefinition.pool(),
    weight,
    work: {
      kind: importTaskDefinition.name,
      url: source.url,
      ...(headers && { has_headers: true as const }),
      bytes_max: limits.fileBytesMax,
      run_seconds_max: Math.max(limits.runSecondsMax, importTaskDefinition.runSecondsMin),
      outputs: [{ key: IMPORT_OUTPUT_KEY, name }],
    },
    inputs: [],
    blocked: false,
    secrets: headers ? { headers } : null,
  })
  // The size of the file is unknown until the import ends; `computeInputColumnChanges` then sets
  // the size and the pool.
  const work = { kind: "probe" as const, input_bytes: 0, is_optional: isOptional }
  const probe = draftTask(facts, {
    jobId,
    pool: probeTaskDefinition.pool(work),
    weight: PROBE_PROGRESS_WEIGHT,
    work,
    inputs: [{ key, fileId }],
    blocked: true,
  })
  const file = draftImportedFile(facts, { id: fileId, jobId, name, sourceUrl })
  return { tasks: [importDraft, probe], file }
}

/** Drafts the row of a file that an import task will store. */
export function draftImportedFile(
  { now }: Pick<JobProperties, "now">,
  file: { id: string; jobId: string; name: string; sourceUrl: string },
): JobDraft["files"][number] {
  return { ...file, source: "import", state: "waiting", createdAt: now }
}
