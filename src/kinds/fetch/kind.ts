import type { Failure } from "../../contract/failure.ts"
import { fetchTask } from "../../contract/tasks/fetch.ts"
import { renderTask } from "../../contract/tasks/render.ts"
import type { Fault } from "../../faults.ts"
import type { Task } from "../../storage/schema/tasks.ts"
import { fetchedUrl } from "../file-links.ts"
import { jsonKind } from "../kind.ts"
import { finishFetch } from "./finish.ts"
import { planFetch } from "./plan.ts"
import { fetchRecord, hadCookies, isFetched, viewFetch } from "./record.ts"
import { EXAMPLE, fetchRequest, readUsable } from "./request.ts"
import type { UsableFetch } from "./request.ts"
import { judgeJobFields, readCreateFields, webhooksIn } from "./transcode.ts"

/** The media of a page, fetched by yt-dlp and kept for some days, and renditions of it, which are Files. */
export const fetch = jsonKind({
  name: "fetch",
  path: "fetch",
  title: "fetch",
  idField: "fetch_id",
  answersJob: true,
  tasks: [fetchTask, renderTask],
  request: fetchRequest,
  example: EXAMPLE,
  readUsable,
  jobFormFields: ["transcode", "webhook_url"],
  references: () => [],
  urls: ({ url }) => (url === undefined ? [] : [{ field: "url", url }]),
  webhooks: (request: UsableFetch) => webhooksIn(request),
  createFields: readCreateFields,
  inputField: (key) => key,
  judge: judgeFetch,
  plan: planFetch,
  finish: finishFetch,
  record: fetchRecord,
  view: (base, { job }, progress, retention) => viewFetch(base, job, { progress, retention }),
  outputUrl: (base, jobId, { key, name }) =>
    isFetched(key) ? fetchedUrl(base, jobId, name) : null,
  explainFailure: nameHalf,
  refuseRetry: (request) =>
    hadCookies(request)
      ? "The fetch had cookies, which were not kept: send it again with POST /fetch."
      : null,
})

function judgeFetch(request: UsableFetch): Fault[] {
  const { quality, audio_format, start = 0, end, transcode } = request
  const faults = judgeJobFields(request)
  if (transcode && (audio_format !== undefined || quality === "audio")) {
    const [field, expected] =
      audio_format === undefined ? ["quality", "another than audio"] : ["audio_format", "none"]
    faults.push({ field, message: `expected ${expected} beside transcode, which needs a picture` })
  }
  if (audio_format !== undefined && (quality ?? "audio") !== "audio") {
    const message = `expected the quality audio beside it, or none, and it is ${quality}`
    faults.push({ field: "audio_format", message })
  }
  if (end !== undefined && end <= start) {
    faults.push({ field: "end", message: `expected more than the start, ${start}` })
  }
  return faults
}

/** Says which half of a job failed that was to make renditions of what it fetched. */
function nameHalf(failure: Failure, { work }: Task, { length }: readonly Task[]): Failure {
  if (length === 1) return failure
  const half = work.kind === renderTask.name ? "transcode" : "fetch"
  return { ...failure, message: `The ${half} failed: ${failure.message}` }
}
