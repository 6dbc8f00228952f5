import { createWriteStream } from "node:fs"
import { parse } from "node:path"
import { pipeline } from "node:stream/promises"
import type { FetchWork } from "../../src/contract/tasks/fetch.ts"
import { RunnerError } from "../task-failure.ts"
import type { TaskFailure } from "../task-failure.ts"
import { isDiskFullError } from "../sandbox/disk-sizes.ts"
import { buildWorkspacePath } from "../sandbox/workspace.ts"
import { inspectDownloadedMedia } from "../tools/ytdlp/download-page.ts"
import type { DownloadedPageMedia } from "../tools/ytdlp/download-page.ts"
import { downloadSource } from "./import/download-source.ts"
import type { RunContext } from "./run-context.ts"

/** Name of the downloaded file in the workspace, without its extension. */
const FILE = "source"

/**
 * Downloads a URL into the workspace, with the caller's headers and without yt-dlp. Checks by a
 * probe that the downloaded file is media.
 */
export async function downloadMediaFile(
  context: RunContext,
  work: FetchWork,
): Promise<DownloadedPageMedia | TaskFailure> {
  const { taskSandbox, workspace } = context
  const bytes_max = Math.min(work.bytes_max, taskSandbox.workspaceBytes)
  const downloaded = await downloadSource(
    context,
    { ...work, bytes_max },
    {
      async useFile({ body, name }, signal) {
        const { name: title, ext } = parse(name)
        await write(body, buildWorkspacePath(workspace, FILE + ext), signal)
        return { title, media: FILE + ext }
      },
    },
  )
  if ("failure" in downloaded) return downloaded
  context.status.phase = "uploading"
  return await inspectDownloadedMedia(context, { ...downloaded, duration: null, subtitles: [] })
}

async function write(body: AsyncIterable<Uint8Array>, path: string, signal: AbortSignal) {
  try {
    await pipeline(body, createWriteStream(path), { signal })
  } catch (error) {
    if (!isDiskFullError(error)) throw error
    const message = "The disk has no room for the media."
    throw new RunnerError("disk_full", message, { cause: error })
  }
}
