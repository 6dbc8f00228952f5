import { NORMALIZED_KEY, normalizeTask } from "../../contract/tasks/normalize.ts"
import { newId } from "../../ids.ts"
import { draftInputs, draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { withNewInput } from "../kept-input.ts"
import { jsonKind } from "../kind.ts"
import type { FoundInput, PlanFacts } from "../kind.ts"
import { finishNormalize } from "./finish.ts"
import { normalizationRecord, viewNormalization } from "./record.ts"
import { EXAMPLE, normalizeRequest, readUsable } from "./request.ts"
import type { NormalizeRequest } from "./request.ts"

/** Media whose sound is brought to a loudness, all else kept as it is. */
export const normalize = jsonKind({
  name: "normalize",
  path: "normalize",
  title: "normalization",
  idField: "normalization_id",
  tasks: [normalizeTask],
  request: normalizeRequest,
  uploadField: "file_url",
  example: EXAMPLE,
  readUsable,
  references: ({ file_url }) =>
    file_url === undefined ? [] : [{ key: "file", field: "file_url", reference: file_url }],
  inputField: () => "file_url",
  judge: () => [],
  plan: planNormalize,
  finish: finishNormalize,
  record: normalizationRecord,
  view: (base, { job }, progress) => viewNormalization(base, job, progress),
  requestAgain: withNewInput,
})

/** One task, and the file that it makes. */
function planNormalize(request: NormalizeRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const [input] = facts.inputs
  const output = { key: NORMALIZED_KEY, name: outputName(input) }
  const task = draftTask(facts, {
    jobId: id,
    pool: normalizeTask.pool(),
    work: {
      kind: "normalize",
      target: {
        integrated_lufs: request.loudnorm_i,
        range_lu: request.loudnorm_lra,
        true_peak_dbtp: request.loudnorm_tp,
      },
      run_seconds_max: facts.runSecondsMax,
      outputs: [output],
    },
    ...draftInputs(facts.inputs),
  })
  const kept = { ...request, file_id: input?.fileId }
  return {
    job: draftJob(facts, { id, kind: "normalize", request: kept }),
    tasks: [task],
    files: [draftOutput(facts, { jobId: id, outputKey: output.key, name: output.name })],
  }
}

/** A guess by the input's name; what it is in the end is the task's to say. */
function outputName(input: FoundInput | undefined): string {
  const name = input?.file?.name ?? input?.source?.name ?? ""
  return `output${/\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0].toLowerCase() ?? ""}`
}
