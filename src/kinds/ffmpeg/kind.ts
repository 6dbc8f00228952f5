import { commandTask } from "../../contract/tasks/command.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { draftCommand } from "../command/plan.ts"
import { jobRecord, viewJobOfFiles } from "../job-record.ts"
import { jsonKind } from "../kind.ts"
import type { PlanFacts } from "../kind.ts"
import { finishOutputs } from "../outputs.ts"
import { judgeFfmpeg } from "./judge.ts"
import { inputField, inputKey, readRequest } from "./read-request.ts"
import { EXAMPLE, ffmpegRequest, readUsable } from "./request.ts"
import type { FfmpegRequest } from "./request.ts"

/** One ffmpeg command with one output, whose inputs are given by their places or their URIs. */
export const ffmpeg = jsonKind({
  name: "ffmpeg",
  path: "ffmpeg",
  title: "ffmpeg job",
  idField: "id",
  isJobForm: true,
  tasks: [commandTask],
  request: ffmpegRequest,
  example: EXAMPLE,
  readUsable,
  references: ({ inputs }) =>
    inputs.flatMap((reference, place) => {
      const key = inputKey(place)
      return reference === null ? [] : [{ key, field: inputField(key), reference }]
    }),
  inputField,
  judge: judgeFfmpeg,
  plan: planFfmpeg,
  finish: finishOutputs,
  record: jobRecord,
  view: (base, { job }, progress) => viewJobOfFiles(base, job, progress),
})

/** A job as that of a command: what differs is only how the request says it. */
function planFfmpeg(request: FfmpegRequest, facts: PlanFacts): JobDraft {
  const { words, output } = readRequest(request)
  const outputs = output ? [{ key: output.key, name: output.name }] : []
  return draftCommand(facts, { kind: "ffmpeg", request, commands: [words], outputs })
}
