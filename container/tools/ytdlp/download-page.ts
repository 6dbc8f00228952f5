import { lstat } from "node:fs/promises"
import type { ProbeResult } from "../../../src/contract/probe.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import { isToolFileSafeToOpen, buildWorkspacePath } from "../../sandbox/workspace.ts"
import type { PageQueryContext } from "./page-context.ts"
import { probeFile } from "../ffmpeg/probe-file.ts"
import { queryPage } from "./query-page.ts"
import type { PageQuery } from "./query-page.ts"
import type { YtdlpDriverResultLine } from "./driver-lines.ts"

/**
 * Options for the download of a page's video. By default, the whole video is downloaded in its best
 * quality.
 */
export type PageDownloadOptions = Omit<PageQuery, "job"> & {
  url: string
  quality?: string
  audioFormat?: string | undefined
  subtitles?: readonly string[]
  start?: number | undefined
  end?: number | undefined
  bytesMax: number
}

/**
 * Downloaded file: its file name in the workspace (`workspaceName`), the file name of the output
 * (`name`), and the size.
 */
export type DownloadedFile = { workspaceName: string; name: string; sizeBytes: number }

/**
 * Downloaded files of a web page. `index` is the position of a subtitle language in the request.
 */
export type DownloadedPageMedia = {
  title: string | null
  durationSeconds: number | null
  media: DownloadedFile & { probe: ProbeResult }
  subtitles: (DownloadedFile & { index: number; language: string })[]
}

/**
 * Downloads the video of a web page into the workspace, and checks by a probe that the file is
 * media.
 */
export async function downloadPageVideo(
  context: PageQueryContext,
  {
    url,
    quality = "best",
    audioFormat,
    subtitles = [],
    start,
    end,
    bytesMax,
    ...rest
  }: PageDownloadOptions,
): Promise<DownloadedPageMedia | TaskFailure> {
  const mode = "download" as const
  const job = { url, mode, quality, audioFormat, subtitles, start, end, bytesMax }
  const done = await queryPage(context, { ...rest, job })
  return "failure" in done ? done : await inspectDownloadedMedia(context, done, start)
}

/**
 * Probes downloaded media, and chooses file names. `start` is the start of the requested section,
 * in seconds.
 */
export async function inspectDownloadedMedia(
  context: PageQueryContext,
  done: Pick<YtdlpDriverResultLine, "duration" | "media" | "subtitles" | "title">,
  start?: number,
): Promise<DownloadedPageMedia | TaskFailure> {
  const { settings, signal, taskSandbox, workspace } = context
  const title = done.title?.trim() ? done.title.trim() : null
  const file = done.media ?? ""
  const sizeBytes = await sizeOf(workspace, file)
  if (sizeBytes === null)
    return createCallerFailure("incomplete", "The download produced no file: try again.")
  const tool = settings.toolPaths.ffprobe
  const probed = await probeFile({ tool, taskSandbox, workspace, name: file, signal })
  context.status.processingMs += probed.wallMs
  const extension = "probe" in probed ? mediaExtension(file, probed.probe) : null
  if (!("probe" in probed) || extension === null) {
    return start ? startPastEnd(start) : noMedia("lines" in probed ? probed.lines : [])
  }
  const { probe } = probed
  return {
    title,
    durationSeconds: probe.duration ?? done.duration ?? null,
    media: { workspaceName: file, name: makeFileNameForTitle(title, extension), sizeBytes, probe },
    subtitles: await findSubtitles(workspace, title, done),
  }
}

async function findSubtitles(
  workspace: string,
  title: string | null,
  done: Pick<YtdlpDriverResultLine, "subtitles">,
) {
  const found: DownloadedPageMedia["subtitles"] = []
  for (const { index, language, name } of done.subtitles) {
    const sizeBytes = await sizeOf(workspace, name)
    if (sizeBytes === null) continue
    const extension = `${language.replaceAll(/[^A-Za-z0-9-]+/g, "-")}.vtt`
    found.push({
      index,
      language,
      workspaceName: name,
      name: makeFileNameForTitle(title, extension),
      sizeBytes,
    })
  }
  return found
}

/**
 * Returns the size of a file in the workspace whose name yt-dlp has reported; null if there is no
 * regular file with this name.
 */
async function sizeOf(workspace: string, name: string): Promise<number | null> {
  const stats = await lstat(buildWorkspacePath(workspace, name)).catch(() => null)
  return stats && isToolFileSafeToOpen(stats) ? stats.size : null
}

function noMedia(lines: string[]): TaskFailure {
  const message = "The URL leads to neither video nor audio: use the URL of media or of its page."
  return createCallerFailure("unsupported_site", message, lines)
}

function startPastEnd(start: number): TaskFailure {
  return createCallerFailure("invalid_input", `start: ${start} is past the end of the video.`)
}

const NAME_BYTES_MAX = 200
const FALLBACK = "video"

/**
 * Matches control characters, lone surrogates, and characters that change the text direction or
 * break lines.
 */
const INVISIBLE = /[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu

/**
 * Returns a file name for the title of a video: one line without slashes, control characters and
 * leading dots. The name has at most 200 bytes; the extension is never shortened.
 */
export function makeFileNameForTitle(title: string | null, extension: string): string {
  const cleaned = (title ?? "")
    .normalize("NFC")
    .replaceAll(INVISIBLE, " ")
    .replaceAll(/[/\\:*?"<>|]+/g, "-")
    .replaceAll(/\s+/g, " ")
    .replace(/^[\s.]+/, "")
  const stem = cutToBytes(cleaned, NAME_BYTES_MAX - Buffer.byteLength(extension) - 1)
  return `${stem.replace(/[\s.]+$/, "") || FALLBACK}.${extension}`
}

/** Shortens a text at a character boundary to at most `bytesMax` bytes in UTF-8. */
function cutToBytes(text: string, bytesMax: number): string {
  let bytes = 0
  let end = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    bytes += Buffer.byteLength(segment)
    if (bytes > bytesMax) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** File extensions of media files. */
const EXTENSIONS = new Set(
  (
    "3g2 3gp aac ac3 aif aiff amr ape asf avi caf divx f4v flac flv m2ts m4a m4b m4v mk3d mka mkv mov " +
    "mp3 mp4 mpeg mpg mts mxf oga ogg ogv opus ts vob wav weba webm wma wmv"
  ).split(" "),
)

/** Matches demuxers of still pictures. */
const PICTURES = /_pipe$|^(?:image2|gif|apng|ico)(?:,|$)/

/**
 * File extensions by container format, for files whose names have no media extension: one extension
 * for audio, and one for video.
 */
const EXTENSIONS_BY_FORMAT: Record<string, [sound: string, picture: string]> = {
  mov: ["m4a", "mp4"],
  matroska: ["mka", "mkv"],
  mpegts: ["ts", "ts"],
  ogg: ["ogg", "ogv"],
  asf: ["wma", "wmv"],
  mpeg: ["mpg", "mpg"],
}

/**
 * Returns the file extension for a downloaded file; null if the file is neither video nor audio.
 */
function mediaExtension(fileName: string, probe: ProbeResult): string | null {
  const types = probe.streams.map(({ codec_type: type }) => type)
  if (PICTURES.test(probe.format_name)) return null
  const hasPicture = types.includes("video")
  if (!hasPicture && !types.includes("audio")) return null
  const own = /\.([A-Za-z0-9]+)$/.exec(fileName)?.[1]?.toLowerCase()
  if (own !== undefined && EXTENSIONS.has(own)) return own
  const [format = ""] = probe.format_name.split(",")
  const byFormat = EXTENSIONS_BY_FORMAT[format]?.[hasPicture ? 1 : 0]
  if (byFormat !== undefined || EXTENSIONS.has(format)) return byFormat ?? format
  return hasPicture ? "mkv" : "mka"
}
