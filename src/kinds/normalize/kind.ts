import { NORMALIZED_OUTPUT_KEY, normalizeTaskDefinition } from "../../contract/tasks/normalize.ts"
import { newId } from "../../platform/ids.ts"
import { draftInputs, draftJobRow, draftOutputFile, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { isCallerFileSource } from "../../domain/states.ts"
import { getFileNameExtension } from "../file-name.ts"
import { replaceStoredInputFileId } from "../stored-input.ts"
import { defineJsonKind } from "../kind.ts"
import { findMissingStreamFaults } from "../required-streams.ts"
import type { DraftContext, FinishedTasks, FileColumnsAndJobResult } from "../kind.ts"
import { getInputUrl } from "../private-input.ts"
import {
  storedSourceNameSchema,
  normalizationRecordSchema,
  buildNormalizationRecord,
} from "./record.ts"
import { normalizedFileName } from "./names.ts"
import {
  NORMALIZE_EXAMPLE_REQUEST,
  normalizeRequestSchema,
  readValidNormalizeFields,
} from "./request.ts"
import type { NormalizeRequest } from "./request.ts"
import { computeOutputColumnsAndResult } from "../outputs.ts"

/** Kind of job that normalizes the loudness of media and changes nothing else. */
export const normalizeKind = defineJsonKind({
  name: "normalize",
  path: "normalize",
  title: "normalization",
  idField: "normalization_id",
  tasks: [normalizeTaskDefinition],
  request: normalizeRequestSchema,
  uploadField: "file_url",
  example: NORMALIZE_EXAMPLE_REQUEST,
  readUsableFields: readValidNormalizeFields,
  references: ({ file_url }) =>
    file_url === undefined ? [] : [{ key: "file", field: "file_url", reference: file_url }],
  inputField: () => "file_url",
  outputName: () => "file",
  judge: (_request, inputs) => findMissingStreamFaults(inputs, "audio"),
  plan: planNormalize,
  finish: finishNormalize,
  record: normalizationRecordSchema,
  view: (base, { job }, progress) => buildNormalizationRecord(base, job, progress),
  retryRequest: replaceStoredInputFileId,
})

/** Drafts the database rows of a normalization: a job, a task and an output file. */
function planNormalize(request: NormalizeRequest, context: DraftContext): JobDraft {
  const id = newId()
  const [input] = context.inputs
  const sourceName = input?.file?.name ?? input?.source?.name ?? ""
  const output = {
    key: NORMALIZED_OUTPUT_KEY,
    name: `output${getFileNameExtension(sourceName).toLowerCase()}`,
  }
  const task = draftTask(context, {
    jobId: id,
    pool: normalizeTaskDefinition.pool(),
    work: {
      kind: "normalize",
      target: {
        integrated_lufs: request.loudnorm_i,
        range_lu: request.loudnorm_lra,
        true_peak_dbtp: request.loudnorm_tp,
      },
      run_seconds_max: context.runSecondsMax,
      outputs: [output],
    },
    ...draftInputs(context.inputs),
  })
  const storedRequest = {
    ...request,
    file_url: getInputUrl(request.file_url),
    file_id: input?.fileId,
    source_name: sourceName,
  }
  const name = normalizedFileName(sourceName, output.name)
  return {
    job: draftJobRow(context, { id, kind: "normalize", request: storedRequest }),
    tasks: [task],
    files: [draftOutputFile(context, { jobId: id, outputKey: output.key, name })],
  }
}

/**
 * Returns the new column values of the output, and the job's result with the loudness measurements.
 * The output is named after its source. The name of an imported source is known only now.
 */
function finishNormalize({ job, files, tasks }: FinishedTasks): FileColumnsAndJobResult {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const result = normalizeTaskDefinition.result.parse(done.result)
  const { measurements, normalization_type, target_reached, format, converted_from } = result
  const importedFile = files.find(({ source }) => isCallerFileSource(source))
  const sourceName = importedFile?.name ?? storedSourceNameSchema.parse(job.request).source_name
  const outputs = result.outputs.map((output) => {
    return { ...output, name: normalizedFileName(sourceName, output.name) }
  })
  const stored = computeOutputColumnsAndResult({
    files,
    tasks: [{ ...done, result: { ...result, outputs } }],
  })
  return {
    files: stored.files,
    result: {
      ...stored.result,
      normalized: { measurements, normalization_type, target_reached, format, converted_from },
    },
  }
}
