import mime from "mime"
import { PROBES_BYTES_MAX } from "../../src/contract/report.ts"
import { MEDIA_KEY, fetchTask, subtitlesKey } from "../../src/contract/tasks/fetch.ts"
import type { FetchResult, FetchWork } from "../../src/contract/tasks/fetch.ts"
import { pathIn } from "../sandbox/workspace.ts"
import { fitProbe } from "../tools/fit-probe.ts"
import { downloadPage } from "../tools/ytdlp/download-page.ts"
import type { DownloadedPage } from "../tools/ytdlp/download-page.ts"
import { uploadOutput } from "../transfer/upload.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext, TaskOutcome } from "./run-context.ts"

const TITLE_LENGTH_MAX = 1000
const LANGUAGE_LENGTH_MAX = 100
/** The rest is for the upload. */
const DOWNLOAD_PERCENT = 95
const PERCENT_BEFORE_END = 99

export const fetchPage = { definition: fetchTask, run: runFetchTask }

/** Downloads the media of a page, and stores it with the subtitles that were asked for. */
async function runFetchTask(
  context: RunContext,
  work: FetchWork,
): Promise<TaskOutcome<FetchResult>> {
  const { reporter, status } = context
  status.phase = "downloading"
  const page = await downloadPage(context, {
    url: work.url,
    quality: work.quality,
    audioFormat: work.audio_format,
    subtitles: work.subtitles,
    start: work.start,
    end: work.end,
    bytesMax: work.bytes_max,
    timeLimitMs: work.run_seconds_max * 1000,
    onSpawn: () => markProcessStarted(context, "yt-dlp"),
    onProgress: (fraction, etaSeconds) =>
      reporter.progress(fraction * DOWNLOAD_PERCENT, etaSeconds && Math.round(etaSeconds)),
  })
  if ("failure" in page) return page
  status.phase = "uploading"
  reporter.progress(DOWNLOAD_PERCENT, null)
  const result = await store(context, page)
  reporter.progress(PERCENT_BEFORE_END, null)
  return { result }
}

async function store(context: RunContext, page: DownloadedPage): Promise<FetchResult> {
  const { media } = page
  const stored = await storeFile(context, MEDIA_KEY, media)
  const subtitles: FetchResult["subtitles"] = []
  for (const { index, language, ...file } of page.subtitles) {
    subtitles.push({
      ...(await storeFile(context, subtitlesKey(index), file)),
      language: language.slice(0, LANGUAGE_LENGTH_MAX),
    })
  }
  return {
    kind: "fetch",
    title: page.title?.slice(0, TITLE_LENGTH_MAX) ?? null,
    duration_seconds: page.durationSeconds,
    media: { ...stored, probe: fitProbe(media.probe, PROBES_BYTES_MAX) },
    subtitles,
  }
}

async function storeFile(
  { io, settings, signal, workspace }: RunContext,
  key: string,
  file: { workspaceName: string; name: string; sizeBytes: number },
) {
  const contentType = mime.getType(file.name) ?? "application/octet-stream"
  await uploadOutput(
    { io, signal },
    {
      ioPath: `/outputs/${key}`,
      path: pathIn(workspace, file.workspaceName),
      contentType,
      partBytes: settings.outputPartBytes,
    },
  )
  return { key, size_bytes: file.sizeBytes, content_type: contentType, name: file.name }
}
