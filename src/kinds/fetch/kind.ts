import { fetchTask, MEDIA_KEY, subtitlesKey } from "../../contract/tasks/fetch.ts"
import type { FetchWork } from "../../contract/tasks/fetch.ts"
import type { Fault } from "../../faults.ts"
import { newId } from "../../ids.ts"
import { draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import { fetchedUrl } from "../file-links.ts"
import { jsonKind } from "../kind.ts"
import type { PlanFacts } from "../kind.ts"
import { tidyCookies } from "./cookies.ts"
import { finishFetch } from "./finish.ts"
import { fetchRecord, hadCookies, viewFetch } from "./record.ts"
import { EXAMPLE, fetchRequest, readUsable } from "./request.ts"
import type { FetchRequest, UsableFetch } from "./request.ts"

/** The media of a page, fetched by yt-dlp and kept for some days. */
export const fetch = jsonKind({
  name: "fetch",
  path: "fetch",
  title: "fetch",
  idField: "fetch_id",
  answersJob: true,
  tasks: [fetchTask],
  request: fetchRequest,
  example: EXAMPLE,
  readUsable,
  jobFormFields: {
    transcode: "it is not supported yet; give POST /commands the URL as an input instead.",
    webhook_url: "this request names it webhook.",
  },
  references: () => [],
  urls: ({ url }) => (url === undefined ? [] : [{ field: "url", url }]),
  inputField: (key) => key,
  judge: judgeFetch,
  plan: planFetch,
  finish: finishFetch,
  record: fetchRecord,
  view: (base, { job }, progress, retention) => viewFetch(base, job, { progress, retention }),
  outputUrl: (base, jobId, { name }) => fetchedUrl(base, jobId, name),
  refuseRetry: (request) =>
    hadCookies(request)
      ? "The fetch had cookies, which were not kept: send it again with POST /fetch."
      : null,
})

function judgeFetch({ quality, audio_format, start = 0, end }: UsableFetch): Fault[] {
  const faults: Fault[] = []
  if (audio_format !== undefined && (quality ?? "audio") !== "audio") {
    const message = `expected the quality audio beside it, or none, and it is ${quality}`
    faults.push({ field: "audio_format", message })
  }
  if (end !== undefined && end <= start) {
    faults.push({ field: "end", message: `expected more than the start, ${start}` })
  }
  return faults
}

/** One task, and files to come: the media, and one for each language. */
function planFetch(request: FetchRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const { cookies, ...asked } = request
  const work = workOf(request, facts)
  const task = draftTask(facts, {
    jobId: id,
    pool: fetchTask.pool(),
    work,
    inputs: [],
    blocked: false,
    secrets: cookies === undefined ? null : { cookies: tidyCookies(cookies) },
  })
  const kept = { ...asked, quality: work.quality, ...(cookies !== undefined && { cookies: true }) }
  return {
    job: draftJob(facts, { id, kind: "fetch", request: kept }),
    tasks: [task],
    files: work.outputs.map(({ key, name }) =>
      draftOutput(facts, { jobId: id, outputKey: key, name, source: "fetch" }),
    ),
  }
}

function workOf(request: FetchRequest, facts: PlanFacts): FetchWork {
  const { audio_format, start, end } = request
  const languages = new Map(request.subtitles?.map((tag) => [tag.toLowerCase(), tag]))
  const subtitles = [...languages.values()]
  const url = new URL(request.url)
  // No server sees what stands there, and extractors of yt-dlp give it meanings.
  url.hash = ""
  const keys = [MEDIA_KEY, ...subtitles.map((_, index) => subtitlesKey(index))]
  return {
    kind: "fetch",
    url: url.href,
    quality: request.quality ?? (audio_format === undefined ? "best" : "audio"),
    ...(audio_format !== undefined && { audio_format }),
    subtitles,
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    bytes_max: facts.fileBytesMax,
    run_seconds_max: facts.runSecondsMax,
    // They get their names when it is known what they are.
    outputs: keys.map((key) => ({ key, name: key })),
  }
}
