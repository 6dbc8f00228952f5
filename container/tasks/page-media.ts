import { mediaTypes } from "../tools/media-types.ts"
import type { TaskFailure } from "../failures.ts"
import { pathIn } from "../sandbox/workspace.ts"
import { downloadPage } from "../tools/ytdlp/download-page.ts"
import type { DownloadedPage, PageDownload, PageFile } from "../tools/ytdlp/download-page.ts"
import { uploadOutput } from "../transfer/upload.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Downloads the media of a page into the workspace, by yt-dlp. The progress of it ends at
 * `percentMax`; the rest is for the upload, which is the next phase of the run.
 */
export async function downloadMedia(
  context: RunContext,
  page: Omit<PageDownload, "onSpawn" | "onProgress">,
  percentMax: number,
): Promise<DownloadedPage | TaskFailure> {
  const { reporter, status } = context
  const downloaded = await downloadPage(context, {
    ...page,
    onSpawn: () => markProcessStarted(context, "yt-dlp"),
    onProgress: (fraction, etaSeconds) =>
      reporter.progress(fraction * percentMax, etaSeconds && Math.round(etaSeconds)),
  })
  if ("failure" in downloaded) return downloaded
  status.phase = "uploading"
  reporter.progress(percentMax, null)
  return downloaded
}

/** Stores a file of the workspace as an output, and says what is stored. */
export async function storeDownloaded(
  { io, settings, signal, workspace }: RunContext,
  key: string,
  { workspaceName, name, sizeBytes }: PageFile,
): Promise<{ name: string; size_bytes: number; content_type: string }> {
  const contentType = mediaTypes.getType(name) ?? "application/octet-stream"
  const path = pathIn(workspace, workspaceName)
  const partBytes = settings.outputPartBytes
  await uploadOutput({ io, signal }, { ioPath: `/outputs/${key}`, path, contentType, partBytes })
  return { name, size_bytes: sizeBytes, content_type: contentType }
}
