import type { JobDraft, JobFacts } from "../storage/job-drafts.ts"
import type { ImportUrl } from "./import-url.ts"
import { draftImport, PROBE_WEIGHT } from "./imports.ts"
import type { ImportLimits } from "./imports.ts"
import type { FoundInput } from "./kind.ts"
import { draftUpload } from "./uploads.ts"
import type { StoredUpload } from "./uploads.ts"

/** Where an input comes from that is no File before its job: a URL, or the bytes of the request. */
export type InputSource = ImportUrl | StoredUpload

/** Of the progress of a job with one such input, in percent. */
const IMPORT_WEIGHT = 30

/** A draft with what makes Files of those of its inputs that are none yet, each of these once. */
export function withSources(
  draft: JobDraft,
  facts: JobFacts & ImportLimits,
  inputs: readonly FoundInput[],
): JobDraft {
  const sources = new Map(
    inputs.flatMap(({ key, fileId, source }) =>
      source ? [[fileId, { key, source }] as const] : [],
    ),
  )
  if (sources.size === 0) return draft
  const made = [...sources].map(([fileId, { key, source }]) => {
    return draftSource(facts, source, { jobId: draft.job.id, fileId, key, isOptional: true })
  })
  const ownWeight = made.reduce((sum, { weight }) => sum + 100 - weight, 0)
  const own = draft.tasks.map(({ task, ...planned }) => {
    return { ...planned, task: { ...task, weight: ownWeight * (task.weight ?? 1) } }
  })
  const uploadId = made.find((each) => each.uploadId !== undefined)?.uploadId
  return {
    ...draft,
    tasks: [...made.flatMap(({ tasks }) => tasks), ...own],
    files: [...made.map(({ file }) => file), ...draft.files],
    ...(uploadId !== undefined && { uploadId }),
  }
}

type Made = { jobId: string; fileId: string; key: string; isOptional: boolean }

/** The tasks of one input that comes with its job, their weight together, and its file. */
function draftSource(facts: JobFacts & ImportLimits, source: InputSource, made: Made) {
  if ("url" in source) {
    const drafted = draftImport(facts, facts, { ...made, source, weight: IMPORT_WEIGHT })
    return { ...drafted, weight: IMPORT_WEIGHT + PROBE_WEIGHT }
  }
  const { task, file } = draftUpload(facts, source, made)
  return { tasks: [task], file, weight: PROBE_WEIGHT, uploadId: source.upload.id }
}
