import {
  fetchTaskDefinition,
  FETCHED_MEDIA_OUTPUT_KEY,
  makeSubtitlesOutputKey,
} from "../../contract/tasks/fetch.ts"
import type { FetchWork } from "../../contract/tasks/fetch.ts"
import type { TaskSecrets } from "../../contract/task.ts"
import { newId } from "../../platform/ids.ts"
import { draftJobRow, draftOutputFile, draftTask } from "../../domain/job-draft.ts"
import type { JobDraft } from "../../domain/job-draft.ts"
import type { DraftContext } from "../kind.ts"
import { getInputHeaders, getInputUrl } from "../private-input.ts"
import { draftRenditions, RENDITION_SOURCE_INPUT_KEY } from "../renditions/plan.ts"
import { normalizeCookies } from "../../contract/netscape-cookies.ts"
import type { FetchRequest } from "./request.ts"
import type { FetchTranscode } from "./transcode.ts"

/** Weights of the two tasks in the progress of a fetch with renditions, in percent. */
const WEIGHTS = { fetch: 30, render: 70 }

/**
 * Drafts the database rows of a fetch job: a task, and a file for the media and for each subtitle
 * language. With `transcode`, a second task waits for the media and encodes renditions of the
 * media.
 */
export function draftFetchJob(request: FetchRequest, context: DraftContext): JobDraft {
  const id = newId()
  const { cookies, transcode, ...fields } = request
  const work = buildWork(request, context)
  const task = draftTask(context, {
    jobId: id,
    pool: fetchTaskDefinition.pool(),
    work,
    ...(transcode && { weight: WEIGHTS.fetch }),
    inputs: [],
    blocked: false,
    secrets: buildSecrets(request),
  })
  const files = work.outputs.map(({ key, name }) =>
    draftOutputFile(context, { jobId: id, outputKey: key, name, source: "fetch" }),
  )
  const rendered = transcode && draftTranscode(context, transcode, files)
  const storedRequest = {
    ...fields,
    url: getInputUrl(request.url),
    quality: work.quality,
    ...(cookies !== undefined && { cookies: true }),
    ...(transcode && { transcode: storedTranscode(transcode) }),
  }
  return {
    job: draftJobRow(context, { id, kind: "fetch", request: storedRequest }),
    tasks: [task, ...(rendered ? [rendered.task] : [])],
    files: [...files, ...(rendered?.files ?? [])],
  }
}

function draftTranscode(
  context: DraftContext,
  transcode: FetchTranscode,
  files: readonly ReturnType<typeof draftOutputFile>[],
) {
  const media = files.find(({ outputKey }) => outputKey === FETCHED_MEDIA_OUTPUT_KEY)
  if (!media) throw new Error("a fetch has no media to come")
  return draftRenditions(context, transcode, {
    jobId: media.jobId,
    // The name of the media is a placeholder here. When the format is known, `finishFetch` sets the
    // names of the media and the renditions.
    sourceName: media.name,
    weight: WEIGHTS.render,
    inputs: [{ key: RENDITION_SOURCE_INPUT_KEY, fileId: media.id }],
    blocked: true,
  })
}

/**
 * Returns the headers or the cookies of a fetch request as secrets of its task. Returns null if the
 * request has neither.
 */
function buildSecrets({ url, cookies }: FetchRequest): TaskSecrets | null {
  const headers = getInputHeaders(url)
  if (headers) return { headers }
  return cookies === undefined ? null : { cookies: normalizeCookies(cookies) }
}

function storedTranscode({ outputs, quality_metrics }: FetchTranscode) {
  return { outputs, quality_metrics }
}

function buildWork(request: FetchRequest, context: DraftContext): FetchWork {
  const { audio_format, start, end } = request
  const languages = new Map(request.subtitles?.map((tag) => [tag.toLowerCase(), tag]))
  const subtitles = [...languages.values()]
  const url = new URL(getInputUrl(request.url))
  // Servers never receive the fragment of a URL, but extractors of yt-dlp would interpret it.
  url.hash = ""
  const keys = [
    FETCHED_MEDIA_OUTPUT_KEY,
    ...subtitles.map((_, index) => makeSubtitlesOutputKey(index)),
  ]
  return {
    kind: "fetch",
    url: url.href,
    ...(getInputHeaders(request.url) && { has_headers: true as const }),
    quality: request.quality ?? (audio_format === undefined ? "best" : "audio"),
    ...(audio_format !== undefined && { audio_format }),
    subtitles,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    bytes_max: context.fileBytesMax,
    run_seconds_max: context.runSecondsMax,
    // The formats of the outputs are unknown until the download ends. `finishFetch` then replaces
    // these placeholder names.
    outputs: keys.map((key) => ({ key, name: key })),
  }
}
