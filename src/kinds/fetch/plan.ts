import { fetchTask, MEDIA_KEY, subtitlesKey } from "../../contract/tasks/fetch.ts"
import type { FetchWork } from "../../contract/tasks/fetch.ts"
import { newId } from "../../ids.ts"
import { draftJob, draftOutput, draftTask } from "../../storage/job-drafts.ts"
import type { JobDraft } from "../../storage/job-drafts.ts"
import type { PlanFacts } from "../kind.ts"
import { draftRenditions, SOURCE_KEY } from "../renditions/plan.ts"
import { tidyCookies } from "./cookies.ts"
import type { FetchRequest } from "./request.ts"
import type { FetchTranscode } from "./transcode.ts"

/** Of the progress of a job that makes renditions of what it fetches. */
const WEIGHTS = { fetch: 30, render: 70 }

/**
 * One task, and files to come: the media, and one for each language. Where renditions are to be made
 * of the media, a second task that waits for it, and their files.
 */
export function planFetch(request: FetchRequest, facts: PlanFacts): JobDraft {
  const id = newId()
  const { cookies, transcode, ...asked } = request
  const work = workOf(request, facts)
  const task = draftTask(facts, {
    jobId: id,
    pool: fetchTask.pool(),
    work,
    ...(transcode && { weight: WEIGHTS.fetch }),
    inputs: [],
    blocked: false,
    secrets: cookies === undefined ? null : { cookies: tidyCookies(cookies) },
  })
  const files = work.outputs.map(({ key, name }) =>
    draftOutput(facts, { jobId: id, outputKey: key, name, source: "fetch" }),
  )
  const rendered = transcode && draftTranscode(facts, transcode, files)
  const kept = {
    ...asked,
    quality: work.quality,
    ...(cookies !== undefined && { cookies: true }),
    ...(transcode && { transcode: keptTranscode(transcode) }),
  }
  return {
    job: draftJob(facts, { id, kind: "fetch", request: kept }),
    tasks: [task, ...(rendered ? [rendered.task] : [])],
    files: [...files, ...(rendered?.files ?? [])],
  }
}

function draftTranscode(
  facts: PlanFacts,
  transcode: FetchTranscode,
  files: readonly ReturnType<typeof draftOutput>[],
) {
  const media = files.find(({ outputKey }) => outputKey === MEDIA_KEY)
  if (!media) throw new Error("a fetch has no media to come")
  return draftRenditions(facts, transcode, {
    jobId: media.jobId,
    // It gets its name, and they theirs, when it is known what it is.
    sourceName: media.name,
    weight: WEIGHTS.render,
    inputs: [{ key: SOURCE_KEY, fileId: media.id }],
    blocked: true,
  })
}

function keptTranscode({ outputs, quality_metrics }: FetchTranscode) {
  return { outputs, quality_metrics }
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
