import { REPORT_PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import {
  FETCHED_MEDIA_OUTPUT_KEY,
  fetchTaskDefinition,
  makeSubtitlesOutputKey,
} from "../../src/contract/tasks/fetch.ts"
import type { FetchResult, FetchWork } from "../../src/contract/tasks/fetch.ts"
import type { Warning } from "../../src/contract/warning.ts"
import { shortenProbeResult } from "../tools/ffmpeg/shorten-probe.ts"
import type { DownloadedPageMedia } from "../tools/ytdlp/download-page.ts"
import type { TaskFailure } from "../task-failure.ts"
import { downloadMediaFile } from "./download-media-file.ts"
import { downloadPageMedia, storeDownloadedFile } from "./page-media.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

const TITLE_LENGTH_MAX = 1000
const LANGUAGE_LENGTH_MAX = 100
const DOWNLOAD_PERCENT = 95
const PERCENT_BEFORE_END = 99

export const fetchTaskHandler = { definition: fetchTaskDefinition, run: runFetchTask }

/**
 * Runs a fetch task: downloads the media of a web page, or a file for a URL with headers, and
 * stores the media and the requested subtitles.
 */
async function runFetchTask(
  context: RunContext,
  work: FetchWork,
): Promise<TaskOutcome<FetchResult>> {
  const page = work.has_headers
    ? await downloadMediaFile(context, work)
    : await downloadFromPage(context, work)
  if ("failure" in page) return page
  const result = await store(context, page)
  context.reporter.progress(PERCENT_BEFORE_END, null)
  const missing = work.subtitles.filter((_, place) =>
    page.subtitles.every(({ index }) => index !== place),
  )
  return { result: { ...result, warnings: missing.length === 0 ? [] : [noSubtitles(missing)] } }
}

async function downloadFromPage(
  context: RunContext,
  work: FetchWork,
): Promise<DownloadedPageMedia | TaskFailure> {
  context.status.phase = "downloading"
  const download = {
    url: work.url,
    quality: work.quality,
    audioFormat: work.audio_format,
    subtitles: work.subtitles,
    start: work.start,
    end: work.end,
    bytesMax: work.bytes_max,
    timeLimitMs: work.run_seconds_max * 1000,
  }
  return await downloadPageMedia(context, download, DOWNLOAD_PERCENT)
}

function noSubtitles(languages: readonly string[]): Warning {
  const named = languages.map((language) => `"${language}"`).join(", ")
  const message = `The site has no subtitles in the requested languages: ${named}.`
  return { code: "subtitles_not_found", message }
}

async function store(context: RunContext, page: DownloadedPageMedia): Promise<FetchResult> {
  const { media } = page
  const stored = await storeDownloadedFile(context, FETCHED_MEDIA_OUTPUT_KEY, media)
  const subtitles: FetchResult["subtitles"] = []
  for (const { index, language, ...file } of page.subtitles) {
    const key = makeSubtitlesOutputKey(index)
    subtitles.push({
      key,
      ...(await storeDownloadedFile(context, key, file)),
      language: language.slice(0, LANGUAGE_LENGTH_MAX),
    })
  }
  return {
    kind: "fetch",
    title: page.title?.slice(0, TITLE_LENGTH_MAX) ?? null,
    duration_seconds: page.durationSeconds,
    media: {
      key: FETCHED_MEDIA_OUTPUT_KEY,
      ...stored,
      probe: shortenProbeResult(media.probe, REPORT_PROBES_BYTES_MAX),
    },
    subtitles,
  }
}
