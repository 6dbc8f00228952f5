import { z } from "zod"
import { renderTaskDefinition } from "../../contract/tasks/render.ts"
import { newId } from "../../platform/ids.ts"
import { draftInputs, draftJobRow } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { isCallerFileSource } from "../../domain/states.ts"
import { jobRecordSchema, buildJobRecordWithFileUrls } from "../job-record.ts"
import { replaceStoredInputFileId, storedInputSchema } from "../stored-input.ts"
import { defineJsonKind } from "../kind.ts"
import type { FileColumnsAndJobResult, FinishedTasks, DraftContext } from "../kind.ts"
import { getInputUrl } from "../private-input.ts"
import { computeRenditionColumnsAndResult } from "../renditions/finish.ts"
import { draftRenditions, RENDITION_SOURCE_INPUT_KEY } from "../renditions/plan.ts"
import { findMissingStreamFaults } from "../required-streams.ts"
import { findWebhookConflicts } from "../webhook-fields.ts"
import {
  TRANSCODE_EXAMPLE_REQUEST,
  readValidTranscodeFields,
  transcodeRequestSchema,
} from "./request.ts"
import type { TranscodeRequest, ValidTranscodeFields } from "./request.ts"

/** Schema of the source's File in the stored request: the id and the name of the File. */
const storedSource = storedInputSchema.extend({ source_name: z.string() })

/** Kind of job that encodes a video in other sizes and codecs for use on the web. */
export const transcodeKind = defineJsonKind({
  name: "transcode",
  path: "transcode",
  title: "transcode",
  idField: "id",
  isJobForm: true,
  tasks: [renderTaskDefinition],
  request: transcodeRequestSchema,
  example: TRANSCODE_EXAMPLE_REQUEST,
  readUsableFields: readValidTranscodeFields,
  references: ({ source }) =>
    source === undefined
      ? []
      : [{ key: RENDITION_SOURCE_INPUT_KEY, field: "source", reference: source }],
  inputField: () => "source",
  judge: (request: ValidTranscodeFields, inputs) => [
    ...findMissingStreamFaults(inputs, "video"),
    ...findWebhookConflicts(request),
  ],
  plan: planTranscode,
  finish: finishTranscode,
  record: jobRecordSchema,
  view: (base, { job }, progress) => buildJobRecordWithFileUrls(base, job, progress),
  retryRequest: replaceStoredInputFileId,
})

function planTranscode(request: TranscodeRequest, context: DraftContext): JobDraft {
  const id = newId()
  const [input] = context.inputs
  const sourceName = input?.file?.name ?? input?.source?.name ?? ""
  const { task, files } = draftRenditions(context, request, {
    jobId: id,
    sourceName,
    ...draftInputs(context.inputs),
  })
  const storedRequest = {
    ...request,
    source: getInputUrl(request.source),
    file_id: input?.fileId,
    source_name: sourceName,
  }
  return {
    job: draftJobRow(context, { id, kind: "transcode", request: storedRequest }),
    tasks: [task],
    files,
  }
}

/**
 * Returns the new column values of the job's files, and the job's result, after a transcode. The
 * name of an imported source is known only now.
 */
function finishTranscode({ job, files, tasks }: FinishedTasks): FileColumnsAndJobResult {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const importedFile = files.find(({ source }) => isCallerFileSource(source))
  const sourceName = importedFile?.name ?? storedSource.parse(job.request).source_name
  return computeRenditionColumnsAndResult(files, done, sourceName)
}
