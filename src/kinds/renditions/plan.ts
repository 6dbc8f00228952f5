import { renderTaskDefinition } from "../../contract/tasks/render.ts"
import type { Rendition } from "../../contract/tasks/render.ts"
import { draftOutputFile, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft, JobProperties, TaskDraft } from "../../domain/job-draft.ts"
import { buildRenditionFileNames } from "./names.ts"
import type { RenditionRequest } from "./request.ts"

/**
 * Key of the source file among the inputs of a task that encodes renditions. The task has no
 * further inputs.
 */
export const RENDITION_SOURCE_INPUT_KEY = "source"

/** Drafts the database rows of the task that encodes renditions, and of the output files. */
export function draftRenditions(
  facts: JobProperties & { runSecondsMax: number },
  request: RenditionRequest,
  placement: { jobId: string; sourceName: string; weight?: number } & Pick<
    TaskDraft,
    "inputs" | "blocked"
  >,
): { task: TaskDraft; files: JobDraft["files"] } {
  const { jobId, sourceName, ...planned } = placement
  const renditions = listRenditions(request)
  const names = buildRenditionFileNames(sourceName, renditions)
  const task = draftTask(facts, {
    ...planned,
    jobId,
    pool: renderTaskDefinition.pool(),
    work: {
      kind: renderTaskDefinition.name,
      renditions,
      measures_quality: request.quality_metrics,
      run_seconds_max: facts.runSecondsMax,
      outputs: renditions.map(({ key, container }) => ({ key, name: `${key}.${container}` })),
    },
  })
  const files = renditions.map(({ key }) =>
    draftOutputFile(facts, { jobId, outputKey: key, name: names.get(key) ?? key }),
  )
  return { task, files }
}

function listRenditions({ outputs }: RenditionRequest): Rendition[] {
  return outputs.map(({ bitrate_kbps, ...rendition }, index) => ({
    key: `out_${index + 1}`,
    ...rendition,
    ...(bitrate_kbps !== undefined && { bitrate_kbps }),
  }))
}
