import { commandTaskDefinition } from "../../contract/tasks/command.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import { draftTaskOutputs } from "../command/output-names.ts"
import { draftCommandJob } from "../command/plan.ts"
import { jobRecordSchema, buildJobRecordWithFileUrls } from "../job-record.ts"
import { defineJsonKind } from "../kind.ts"
import { getInputUrl } from "../private-input.ts"
import type { DraftContext } from "../kind.ts"
import { computeOutputColumnsAndResult } from "../outputs.ts"
import { findFfmpegRequestFaults } from "./request-faults.ts"
import { inputFieldPath, makeInputKey, parseFfmpegRequest } from "./parse-request.ts"
import { FFMPEG_EXAMPLE_REQUEST, ffmpegRequestSchema, readValidFfmpegFields } from "./request.ts"
import type { FfmpegRequest } from "./request.ts"

/**
 * Kind of job that runs one ffmpeg command with one output. The command names its inputs by
 * position or URI.
 */
export const ffmpegKind = defineJsonKind({
  name: "ffmpeg",
  path: "ffmpeg",
  title: "ffmpeg job",
  idField: "id",
  isJobForm: true,
  tasks: [commandTaskDefinition],
  request: ffmpegRequestSchema,
  example: FFMPEG_EXAMPLE_REQUEST,
  readUsableFields: readValidFfmpegFields,
  references: ({ inputs }) =>
    inputs.flatMap((reference, place) => {
      const key = makeInputKey(place)
      return reference === null ? [] : [{ key, field: inputFieldPath(key), reference }]
    }),
  inputField: inputFieldPath,
  judge: findFfmpegRequestFaults,
  plan: planFfmpeg,
  finish: computeOutputColumnsAndResult,
  record: jobRecordSchema,
  view: (base, { job }, progress) => buildJobRecordWithFileUrls(base, job, progress),
})

/**
 * Drafts the same task as for a command job. The two kinds differ only in the form of the request.
 */
function planFfmpeg(request: FfmpegRequest, facts: DraftContext): JobDraft {
  const { words, output } = parseFfmpegRequest(request)
  const outputs = draftTaskOutputs(output ? [{ key: output.key, name: output.name }] : [], [words])
  const kept = { ...request, inputs: request.inputs.map(getInputUrl) }
  return draftCommandJob(facts, { kind: "ffmpeg", request: kept, commands: [words], outputs })
}
