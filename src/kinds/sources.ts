import type { JobDraft, JobProperties } from "../domain/job-draft.ts"
import { draftImport, PROBE_PROGRESS_WEIGHT } from "./imports.ts"
import type { ImportLimits } from "./imports.ts"
import type { ResolvedInput, InputSource } from "./kind.ts"
import { draftUpload } from "./uploads.ts"

/** Weight of an import in the progress of a job with one imported input, in percent. */
const IMPORT_WEIGHT = 30

/**
 * Adds to the drafted job the tasks and files for inputs that are URLs or uploads. Several inputs
 * with the same file get one set of tasks.
 */
export function draftSourceTasks(
  draft: JobDraft,
  facts: JobProperties & ImportLimits,
  inputs: readonly ResolvedInput[],
): JobDraft {
  const sources = new Map(
    inputs.flatMap(({ key, fileId, source }) =>
      source ? [[fileId, { key, source }] as const] : [],
    ),
  )
  if (sources.size === 0) return draft
  const drafts = [...sources].map(([fileId, { key, source }]) => {
    return draftSource(facts, source, { jobId: draft.job.id, fileId, key, isOptional: true })
  })
  const ownWeight = drafts.reduce((sum, { weight }) => sum + 100 - weight, 0)
  const own = draft.tasks.map(({ task, ...planned }) => {
    return { ...planned, task: { ...task, weight: ownWeight * (task.weight ?? 1) } }
  })
  const uploadId = drafts.find((each) => each.uploadId !== undefined)?.uploadId
  return {
    ...draft,
    tasks: [...drafts.flatMap(({ tasks }) => tasks), ...own],
    files: [...drafts.map(({ file }) => file), ...draft.files],
    ...(uploadId !== undefined && { uploadId }),
  }
}

type SourcePlacement = { jobId: string; fileId: string; key: string; isOptional: boolean }

/**
 * Drafts the database rows for a URL or an upload: the tasks and the file to create. Also returns
 * the sum of the tasks' weights in the progress of the job.
 */
function draftSource(
  facts: JobProperties & ImportLimits,
  source: InputSource,
  placement: SourcePlacement,
) {
  if ("url" in source) {
    const drafted = draftImport(facts, facts, { ...placement, source, weight: IMPORT_WEIGHT })
    return { ...drafted, weight: IMPORT_WEIGHT + PROBE_PROGRESS_WEIGHT }
  }
  const { task, file } = draftUpload(facts, source, placement)
  return { tasks: [task], file, weight: PROBE_PROGRESS_WEIGHT, uploadId: source.upload.id }
}
