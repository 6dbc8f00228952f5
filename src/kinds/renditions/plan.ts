import { renderTask } from "../../contract/tasks/render.ts"
import type { Rendition } from "../../contract/tasks/render.ts"
import { draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft, JobFacts, TaskDraft } from "../../storage/job-drafts.ts"
import { renditionNames } from "./names.ts"
import type { RenditionRequest } from "./request.ts"

/** The key of the one input of a task that makes renditions. */
export const SOURCE_KEY = "source"

/** The task that makes renditions, and the files that they become. */
export function draftRenditions(
  facts: JobFacts & { runSecondsMax: number },
  request: RenditionRequest,
  made: { jobId: string; sourceName: string; weight?: number } & Pick<
    TaskDraft,
    "inputs" | "blocked"
  >,
): { task: TaskDraft; files: JobDraft["files"] } {
  const { jobId, sourceName, ...planned } = made
  const renditions = renditionsOf(request)
  const names = renditionNames(sourceName, renditions)
  const task = draftTask(facts, {
    ...planned,
    jobId,
    pool: renderTask.pool(),
    work: {
      kind: renderTask.name,
      renditions,
      measures_quality: request.quality_metrics,
      run_seconds_max: facts.runSecondsMax,
      outputs: renditions.map(({ key, container }) => ({ key, name: `${key}.${container}` })),
    },
  })
  const files = renditions.map(({ key }) =>
    draftOutput(facts, { jobId, outputKey: key, name: names.get(key) ?? key }),
  )
  return { task, files }
}

function renditionsOf({ outputs }: RenditionRequest): Rendition[] {
  return outputs.map(({ bitrate_kbps, ...rendition }, index) => ({
    key: `out_${index + 1}`,
    ...rendition,
    ...(bitrate_kbps !== undefined && { bitrate_kbps }),
  }))
}
