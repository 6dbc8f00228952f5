import { PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import { MEDIA_KEY, fetchTask, subtitlesKey } from "../../src/contract/tasks/fetch.ts"
import type { FetchResult, FetchWork } from "../../src/contract/tasks/fetch.ts"
import type { Warning } from "../../src/contract/warning.ts"
import { fitProbe } from "../tools/fit-probe.ts"
import type { DownloadedPage } from "../tools/ytdlp/download-page.ts"
import { downloadMedia, storeDownloaded } from "./page-media.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

const TITLE_LENGTH_MAX = 1000
const LANGUAGE_LENGTH_MAX = 100
const DOWNLOAD_PERCENT = 95
const PERCENT_BEFORE_END = 99

export const fetchPage = { definition: fetchTask, run: runFetchTask }

/** Downloads the media of a page, and stores it with the subtitles that were asked for. */
async function runFetchTask(
  context: RunContext,
  work: FetchWork,
): Promise<TaskOutcome<FetchResult>> {
  context.status.phase = "downloading"
  const wanted = {
    url: work.url,
    quality: work.quality,
    audioFormat: work.audio_format,
    subtitles: work.subtitles,
    start: work.start,
    end: work.end,
    bytesMax: work.bytes_max,
    timeLimitMs: work.run_seconds_max * 1000,
  }
  const page = await downloadMedia(context, wanted, DOWNLOAD_PERCENT)
  if ("failure" in page) return page
  const result = await store(context, page)
  context.reporter.progress(PERCENT_BEFORE_END, null)
  const missing = work.subtitles.filter((_, place) =>
    page.subtitles.every(({ index }) => index !== place),
  )
  return { result: { ...result, warnings: missing.length === 0 ? [] : [noSubtitles(missing)] } }
}

function noSubtitles(languages: readonly string[]): Warning {
  const named = languages.map((language) => `"${language}"`).join(", ")
  const message = `The site gave no subtitles in the languages that were asked for: ${named}.`
  return { code: "subtitles_not_found", message }
}

async function store(context: RunContext, page: DownloadedPage): Promise<FetchResult> {
  const { media } = page
  const stored = await storeDownloaded(context, MEDIA_KEY, media)
  const subtitles: FetchResult["subtitles"] = []
  for (const { index, language, ...file } of page.subtitles) {
    const key = subtitlesKey(index)
    subtitles.push({
      key,
      ...(await storeDownloaded(context, key, file)),
      language: language.slice(0, LANGUAGE_LENGTH_MAX),
    })
  }
  return {
    kind: "fetch",
    title: page.title?.slice(0, TITLE_LENGTH_MAX) ?? null,
    duration_seconds: page.durationSeconds,
    media: { key: MEDIA_KEY, ...stored, probe: fitProbe(media.probe, PROBES_BYTES_MAX) },
    subtitles,
  }
}
