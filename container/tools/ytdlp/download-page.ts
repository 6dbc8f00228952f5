import { lstat } from "node:fs/promises"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import { callerFailure } from "../../failures.ts"
import type { TaskFailure } from "../../failures.ts"
import { isPlainFile, pathIn } from "../../sandbox/workspace.ts"
import type { PageContext } from "./page-context.ts"
import { probeFile } from "../ffprobe.ts"
import { askPage } from "./ask-page.ts"
import type { PageQuestion } from "./ask-page.ts"
import type { DriverDone } from "./driver-lines.ts"
import { fileNameOf } from "./file-name.ts"
import { mediaExtension } from "./media-extension.ts"

/** What is wanted of a page; by default its best quality, whole. */
export type PageDownload = Omit<PageQuestion, "job"> & {
  url: string
  quality?: string
  audioFormat?: string | undefined
  subtitles?: readonly string[]
  start?: number | undefined
  end?: number | undefined
  bytesMax: number
}

/** A file of the workspace, and the name that it is to have. */
export type PageFile = { workspaceName: string; name: string; sizeBytes: number }

/** What was downloaded of a page; `index` is the place of a language among those asked for. */
export type DownloadedPage = {
  title: string | null
  durationSeconds: number | null
  media: PageFile & { probe: ProbeResult }
  subtitles: (PageFile & { index: number; language: string })[]
}

/** Downloads the media of a page into the workspace, as it is, and makes sure that it is media. */
export async function downloadPage(
  context: PageContext,
  {
    url,
    quality = "best",
    audioFormat,
    subtitles = [],
    start,
    end,
    bytesMax,
    ...rest
  }: PageDownload,
): Promise<DownloadedPage | TaskFailure> {
  const mode = "download" as const
  const job = { url, mode, quality, audioFormat, subtitles, start, end, bytesMax }
  const done = await askPage(context, { ...rest, job })
  return "failure" in done ? done : await inspect(context, done, { start })
}

async function inspect(
  context: PageContext,
  done: DriverDone,
  { start }: { start: number | undefined },
): Promise<DownloadedPage | TaskFailure> {
  const { settings, signal, taskSandbox, workspace } = context
  const title = done.title?.trim() ? done.title.trim() : null
  const file = done.media ?? ""
  const sizeBytes = await sizeOf(workspace, file)
  if (sizeBytes === null) return callerFailure("incomplete", "No file came of the page: try again.")
  const tool = settings.toolPaths.ffprobe
  const probed = await probeFile({ tool, taskSandbox, workspace, name: file, signal })
  context.status.processingMs += probed.wallMs
  const extension = "probe" in probed ? mediaExtension(file, probed.probe) : null
  if (!("probe" in probed) || extension === null) {
    return start ? behindTheEnd(start) : noMedia("lines" in probed ? probed.lines : [])
  }
  const { probe } = probed
  return {
    title,
    durationSeconds: probe.duration ?? done.duration ?? null,
    media: { workspaceName: file, name: fileNameOf(title, extension), sizeBytes, probe },
    subtitles: await findSubtitles(workspace, title, done),
  }
}

async function findSubtitles(workspace: string, title: string | null, done: DriverDone) {
  const found: DownloadedPage["subtitles"] = []
  for (const { index, language, name } of done.subtitles) {
    const sizeBytes = await sizeOf(workspace, name)
    if (sizeBytes === null) continue
    const extension = `${language.replaceAll(/[^A-Za-z0-9-]+/g, "-")}.vtt`
    found.push({
      index,
      language,
      workspaceName: name,
      name: fileNameOf(title, extension),
      sizeBytes,
    })
  }
  return found
}

/** Bytes of a file that yt-dlp names; null where it is no plain file of the workspace. */
async function sizeOf(workspace: string, name: string): Promise<number | null> {
  const stats = await lstat(pathIn(workspace, name)).catch(() => null)
  return stats && isPlainFile(stats) ? stats.size : null
}

function noMedia(lines: string[]): TaskFailure {
  const message =
    "What the URL leads to is no video and no sound: give the URL of one, or of its page."
  return callerFailure("unsupported_site", message, lines)
}

function behindTheEnd(start: number): TaskFailure {
  return callerFailure("invalid_input", `start: ${start} is behind the end of the video.`)
}
