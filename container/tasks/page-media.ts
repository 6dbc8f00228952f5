import { mediaTypeConverter } from "../tools/media-types.ts"
import type { TaskFailure } from "../task-failure.ts"
import { buildWorkspacePath } from "../sandbox/workspace.ts"
import { downloadPageVideo } from "../tools/ytdlp/download-page.ts"
import type {
  DownloadedPageMedia,
  PageDownloadOptions,
  DownloadedFile,
} from "../tools/ytdlp/download-page.ts"
import { uploadOutputFile } from "../transfer/upload-outputs.ts"
import { markProcessStarted } from "./run-context.ts"
import type { RunContext } from "./run-context.ts"

/**
 * Downloads the media of a web page into the workspace by yt-dlp. At the end of the download, the
 * progress of the task is `percentMax` percent, since an upload follows.
 */
export async function downloadPageMedia(
  context: RunContext,
  page: Omit<PageDownloadOptions, "onSpawn" | "onProgress">,
  percentMax: number,
): Promise<DownloadedPageMedia | TaskFailure> {
  const { reporter, status } = context
  const downloaded = await downloadPageVideo(context, {
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

/**
 * Uploads a downloaded file as an output of the task. Returns name, size and media type of the
 * output.
 */
export async function storeDownloadedFile(
  { io, settings, signal, workspace }: RunContext,
  key: string,
  { workspaceName, name, sizeBytes }: DownloadedFile,
): Promise<{ name: string; size_bytes: number; content_type: string }> {
  const contentType = mediaTypeConverter.getType(name) ?? "application/octet-stream"
  const path = buildWorkspacePath(workspace, workspaceName)
  const partBytes = settings.outputPartBytes
  await uploadOutputFile(
    { io, signal },
    { ioPath: `/outputs/${key}`, path, contentType, partBytes },
  )
  return { name, size_bytes: sizeBytes, content_type: contentType }
}
