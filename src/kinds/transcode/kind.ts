import { z } from "zod"
import { renderTask } from "../../contract/tasks/render.ts"
import { newId } from "../../ids.ts"
import { draftInputs, draftJob } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { isOfCaller } from "../../storage/schema/states.ts"
import { jobRecord, viewJobOfFiles } from "../job-record.ts"
import { keptInput, withNewInput } from "../kept-input.ts"
import { jsonKind } from "../kind.ts"
import type { DoneTasks, Finish, PlanFacts } from "../kind.ts"
import { finishRenditions } from "../renditions/finish.ts"
import { draftRenditions, SOURCE_KEY } from "../renditions/plan.ts"
import { judgeWebhooks } from "../webhook-fields.ts"
import { EXAMPLE, readUsable, transcodeRequest } from "./request.ts"
import type { TranscodeRequest, UsableTranscode } from "./request.ts"

/** What of the request its job keeps beside it: the File that the source is, and its name. */
const keptSource = keptInput.extend({ source_name: z.string() })

/** A video in other sizes and codecs, ready for the web. */
export const transcode = jsonKind({
  name: "transcode",
  path: "transcode",
  title: "transcode",
  idField: "id",
  isJobForm: true,
  tasks: [renderTask],
  request: transcodeRequest,
  example: EXAMPLE,
  readUsable,
  references: ({ source }) =>
    source === undefined ? [] : [{ key: SOURCE_KEY, field: "source", reference: source }],
  inputField: () => "source",
  judge: (request: UsableTranscode) => judgeWebhooks(request),
  plan: planTranscode,
  finish: finishTranscode,
  record: jobRecord,
  view: (base, { job }, progress) => viewJobOfFiles(base, job, progress),
  requestAgain: withNewInput,
})

function planTranscode(request: TranscodeRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const [input] = facts.inputs
  const sourceName = input?.file?.name ?? input?.source?.name ?? ""
  const { task, files } = draftRenditions(facts, request, {
    jobId: id,
    sourceName,
    ...draftInputs(facts.inputs),
  })
  const kept = { ...request, file_id: input?.fileId, source_name: sourceName }
  return { job: draftJob(facts, { id, kind: "transcode", request: kept }), tasks: [task], files }
}

/** A source that was brought in has its name by now. */
function finishTranscode({ job, files, tasks }: DoneTasks): Finish {
  const [done] = tasks
  if (!done) return { files: [], result: { outputs: [] } }
  const broughtIn = files.find(({ source }) => isOfCaller(source))
  const sourceName = broughtIn?.name ?? keptSource.parse(job.request).source_name
  return finishRenditions(files, done, sourceName)
}
