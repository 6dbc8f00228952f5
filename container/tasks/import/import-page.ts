import mime from "mime"
import { IMPORT_KEY } from "../../../src/contract/tasks/import.ts"
import type { ImportResult, ImportWork } from "../../../src/contract/tasks/import.ts"
import { pathIn } from "../../sandbox/workspace.ts"
import { downloadPage } from "../../tools/ytdlp/download-page.ts"
import { uploadOutput } from "../../transfer/upload.ts"
import { markProcessStarted } from "../run-context.ts"
import type { RunContext, TaskOutcome } from "../run-context.ts"

/** The rest is for the upload. */
const DOWNLOAD_PERCENT = 90

/** Brings the media of a page into storage, by yt-dlp, in as many milliseconds as are left. */
export async function importPage(
  context: RunContext,
  work: ImportWork,
  timeLimitMs: number,
): Promise<TaskOutcome<ImportResult>> {
  const { io, reporter, settings, signal, status, workspace } = context
  const page = await downloadPage(context, {
    url: work.url,
    bytesMax: work.bytes_max,
    timeLimitMs,
    onSpawn: () => markProcessStarted(context, "yt-dlp"),
    onProgress: (fraction, etaSeconds) =>
      reporter.progress(fraction * DOWNLOAD_PERCENT, etaSeconds && Math.round(etaSeconds)),
  })
  if ("failure" in page) return page
  status.phase = "uploading"
  reporter.progress(DOWNLOAD_PERCENT, null)
  const { name, sizeBytes, workspaceName } = page.media
  const contentType = mime.getType(name) ?? "application/octet-stream"
  const path = pathIn(workspace, workspaceName)
  const ioPath = `/outputs/${IMPORT_KEY}`
  const partBytes = settings.outputPartBytes
  await uploadOutput({ io, signal }, { ioPath, path, contentType, partBytes })
  return {
    result: {
      kind: "import",
      name,
      size_bytes: sizeBytes,
      content_type: contentType,
      is_resumable: false,
    },
  }
}
