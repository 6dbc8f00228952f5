import type { Failure } from "../../contract/failure.ts"
import { FETCHED_MEDIA_OUTPUT_KEY, fetchTaskDefinition } from "../../contract/tasks/fetch.ts"
import { renderTaskDefinition } from "../../contract/tasks/render.ts"
import type { Fault } from "../../domain/faults.ts"
import type { Task } from "../../db/schema/tasks.ts"
import { buildFetchOutputUrl } from "../file-links.ts"
import { defineJsonKind } from "../kind.ts"
import { draftFetchJob } from "./plan.ts"
import {
  fetchRecordSchema,
  didFetchRequestHaveCookies,
  isFetchedOutput,
  buildFetchRecord,
} from "./record.ts"
import { FETCH_EXAMPLE_REQUEST, fetchRequestSchema, readValidFetchFields } from "./request.ts"
import type { ValidFetchFields } from "./request.ts"
import { findJobFieldConflicts, listWebhookUrls, mergeJobFields } from "./transcode.ts"
import type { FetchResult } from "../../contract/tasks/fetch.ts"
import type { File } from "../../db/schema/files.ts"
import type {
  FinishedTasks,
  FileColumnsAndJobResult,
  FinishedTask,
  ResolvedInput,
} from "../kind.ts"
import { toOutputResult, toStoredFileColumns } from "../outputs.ts"
import { computeRenditionColumnsAndResult } from "../renditions/finish.ts"

type FetchedOutput = FetchResult["media"]

/**
 * Returns the new column values of the job's files and the job's result after a fetch, for the
 * media, the available subtitles and the renditions.
 */
function finishFetch({ files, tasks }: FinishedTasks): FileColumnsAndJobResult {
  const fetched = tasks.find(({ task }) => task.work.kind === fetchTaskDefinition.name)
  if (!fetched) return { files: [], result: { outputs: [] } }
  const ofFetch = files.filter(({ source }) => source === "fetch")
  const { mediaName, ...media } = finishMedia(ofFetch, fetched)
  const rendered = tasks.find(({ task }) => task.work.kind === renderTaskDefinition.name)
  if (!rendered) return media
  const renditions = computeRenditionColumnsAndResult(files, rendered, mediaName)
  const intermediates = media.result.outputs.map((output) => ({ ...output, isIntermediate: true }))
  return {
    files: [...media.files, ...renditions.files],
    ...(renditions.sameFiles && { sameFiles: renditions.sameFiles }),
    result: { ...media.result, outputs: [...renditions.result.outputs, ...intermediates] },
  }
}

function finishMedia(
  files: File[],
  done: FinishedTask,
): FileColumnsAndJobResult & { mediaName: string } {
  const fetched = fetchTaskDefinition.result.parse(done.result)
  const stored = uniqueNames([fetched.media, ...fetched.subtitles]).flatMap((output) => {
    const file = files.find(({ outputKey }) => outputKey === output.key)
    return file ? [{ output, file: { ...file, name: output.name } }] : []
  })
  const storedIds = new Set(stored.map(({ file }) => file.id))
  return {
    mediaName: fetched.media.name,
    files: [
      ...stored.map(({ output, file }) => outputFileChange(done.task, output, file)),
      ...files
        .filter(({ id }) => !storedIds.has(id))
        .map(({ id }) => ({ id, set: SUBTITLES_NOT_FOUND })),
    ],
    result: {
      outputs: stored.map(({ output, file }) => toOutputResult(file, output)),
      fetched: {
        title: fetched.title,
        durationSeconds: fetched.duration_seconds,
        subtitles: fetched.subtitles.map(({ key, language }) => ({ key, language })),
      },
    },
  }
}

const SUBTITLES_NOT_FOUND = {
  state: "failed",
  errorCode: "not_found",
  errorMessage: "The media has no subtitles in this language.",
} as const satisfies Partial<File>

function outputFileChange(
  task: Task,
  output: FetchedOutput,
  file: File,
): FileColumnsAndJobResult["files"][number] {
  return { id: file.id, set: { name: output.name, ...toStoredFileColumns(task, file, output) } }
}

/**
 * Makes the names of outputs unique, because a download URL contains only the name of an output.
 */
function uniqueNames(outputs: FetchedOutput[]): FetchedOutput[] {
  const names = new Set<string>()
  return outputs.map((output) => {
    const name = names.has(output.name) ? `${output.key}.${output.name}` : output.name
    names.add(name)
    return { ...output, name }
  })
}

/**
 * Kind of job that stores the media of a web page for some days. With `transcode`, the job also
 * encodes renditions, which become files of the account.
 */
export const fetchKind = defineJsonKind({
  name: "fetch",
  path: "fetch",
  title: "fetch",
  idField: "fetch_id",
  respondsWithJob: true,
  tasks: [fetchTaskDefinition, renderTaskDefinition],
  request: fetchRequestSchema,
  example: FETCH_EXAMPLE_REQUEST,
  readUsableFields: readValidFetchFields,
  jobFormFields: ["transcode", "webhook_url"],
  references: () => [],
  urls: ({ url }) => (url === undefined ? [] : [{ field: "url", url }]),
  webhooks: (request: ValidFetchFields) => listWebhookUrls(request),
  createFields: mergeJobFields,
  inputField: (key) => key,
  outputName: (key) => (key === FETCHED_MEDIA_OUTPUT_KEY ? "file" : key),
  judge: judgeFetch,
  plan: draftFetchJob,
  finish: finishFetch,
  record: fetchRecordSchema,
  view: (base, { job }, progress, retention) =>
    buildFetchRecord(base, job, { progress, retention }),
  outputUrl: (base, jobId, { key, name }) =>
    isFetchedOutput(key) ? buildFetchOutputUrl(base, jobId, name) : null,
  explainFailure: nameFailedPart,
  refuseRetry: (request) =>
    didFetchRequestHaveCookies(request)
      ? "The service did not keep the cookies of this fetch. Send it again with POST /fetch."
      : null,
})

function judgeFetch(
  request: ValidFetchFields,
  _inputs: readonly ResolvedInput[],
  malformed: ReadonlySet<string>,
): Fault[] {
  const { quality, audio_format, start = 0, end, transcode } = request
  const faults = [...findJobFieldConflicts(request), ...judgeHeaderConflicts(request)]
  if (request.publish === true && !transcode && !malformed.has("transcode")) {
    const message = "expected transcode beside it: renditions are Files, and fetched media are not"
    faults.push({ field: "publish", message })
  }
  if (transcode && (audio_format !== undefined || quality === "audio")) {
    const [field, expected] =
      audio_format === undefined
        ? ["quality", "a quality other than audio"]
        : ["audio_format", "no value"]
    faults.push({ field, message: `expected ${expected} with transcode, which needs video` })
  }
  if (audio_format !== undefined && (quality ?? "audio") !== "audio") {
    const message = `expected the quality audio or no quality with audio_format, but quality is ${quality}`
    faults.push({ field: "audio_format", message })
  }
  if (end !== undefined && end <= start) {
    faults.push({ field: "end", message: `expected a time after start, which is ${start}` })
  }
  return faults
}

/**
 * Returns faults of fields that only yt-dlp supports. A request for a URL with headers cannot have
 * these fields, because the file is downloaded without yt-dlp.
 */
function judgeHeaderConflicts({ url, ...request }: ValidFetchFields): Fault[] {
  if (url === undefined || typeof url === "string") return []
  const fields = ["audio_format", "subtitles", "start", "end", "cookies"] as const
  const given = fields.filter((field) => request[field] !== undefined)
  const message = "expected no value beside headers, because the file is fetched unchanged"
  const { quality = "best" } = request
  return [...(quality === "best" ? [] : ["quality"]), ...given].map((field) => ({ field, message }))
}

/**
 * Adds the name of the failed part, fetch or transcode, to a failure message. The message of a job
 * with a single task stays unchanged.
 */
function nameFailedPart(failure: Failure, { work }: Task, { length }: readonly Task[]): Failure {
  if (length === 1) return failure
  const part = work.kind === renderTaskDefinition.name ? "transcode" : "fetch"
  return { ...failure, message: `The ${part} failed: ${failure.message}` }
}
