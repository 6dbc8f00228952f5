import type { OutputReport } from "../../../src/contract/report.ts"
import type { TaskOutput } from "../../../src/contract/task.ts"
import type { Warning } from "../../../src/contract/warning.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { assignFilesToBundles } from "./assign-bundle-files.ts"
import type { BundleFiles } from "./assign-bundle-files.ts"
import { emptyBundleFailure, checkStoredOutputs } from "./check-stored-outputs.ts"
import { findMissingOutputFailure, storeOutputs } from "./store-outputs.ts"
import type { RunContext } from "../run-context.ts"
import { lstat } from "node:fs/promises"
import mime from "mime"
import { isPlaylistFileName } from "../../../src/contract/bundle.ts"
import { openToolWrittenFile, buildWorkspacePath } from "../../sandbox/workspace.ts"
import { probeFile } from "../../tools/ffmpeg/probe-file.ts"

/**
 * Checks and stores the outputs of a task whose commands (`runs`) have all succeeded. Returns a
 * failure if an output is missing, or has neither picture nor sound although it should. Otherwise
 * returns the outputs and warnings.
 */
export async function checkAndStoreOutputs(
  context: RunContext,
  outputs: readonly TaskOutput[],
  runs: readonly FinishedFfmpegRun[],
): Promise<{ outputs: OutputReport[]; warnings: Warning[] } | TaskFailure> {
  const missing = findMissingOutputFailure(context.workspace, outputs, runs)
  if (missing) return missing
  const bundles = await assignFilesToBundles({ ...context, runs }, outputs)
  if ("failure" in bundles) return bundles
  for (const output of outputs) {
    const bundle = bundles.get(output.key)
    if (bundle && (await isBundleEmpty(context, bundle))) return emptyBundleFailure(output, runs)
  }
  context.status.phase = "uploading"
  const stored = await storeOutputs(context, outputs, bundles)
  const storedOutputs = outputs.flatMap((output, index) => {
    const each = stored[index]
    return each ? [{ output, stored: each }] : []
  })
  const judgement = await checkStoredOutputs(context, storedOutputs, runs)
  if ("failure" in judgement) return judgement
  return { outputs: stored.map(({ report }) => report), warnings: judgement }
}

/**
 * Maximum size of a media file that may contain only headers, in bytes. Larger files are not
 * checked.
 */
const HEADERS_BYTES_MAX = 64 * 1024
/**
 * Maximum number of files of a bundle (an output of several files) that are probed. If the largest
 * files are empty, the smaller files are assumed to be empty too.
 */
const PROBES_MAX = 4
const FRAGMENT_HEAD_BYTES = 4096
const FRAGMENT = /\.(?:m4s|cmf[vat])$/i

/**
 * Reports whether a bundle (an output of several files) has neither picture nor sound, because its
 * media files are empty or contain only headers. An encrypted bundle counts as empty if its
 * playlists have no duration. A bundle that contains only text, such as subtitles, does not count
 * as empty.
 */
async function isBundleEmpty(context: RunContext, bundle: BundleFiles): Promise<boolean> {
  const names = bundle.names.filter((name) => !isPlaylistFileName(name))
  const mediaNames = names.filter((name) => !isText(name))
  // Without media files, the bundle is empty only if it has nothing but playlists without a
  // duration. Playlists with a duration may name files that are separate outputs.
  const lastsNoTime = (bundle.durationSeconds ?? 0) === 0
  if (mediaNames.length === 0) return names.length === 0 && lastsNoTime
  if (bundle.isEncrypted) return lastsNoTime
  const media: { name: string; size: number }[] = []
  for (const name of mediaNames) {
    const { size } = await lstat(buildWorkspacePath(context.workspace, name))
    if (size > HEADERS_BYTES_MAX || (size > 0 && isPicture(name))) return false
    if (size > 0) media.push({ name, size })
  }
  // Checks every fragment rather than the largest files, since the file that contains only the
  // header may be larger than a media segment.
  const fragments = media.filter(({ name }) => FRAGMENT.test(name))
  for (const { name } of fragments) {
    if (await hasFragment(buildWorkspacePath(context.workspace, name))) return false
  }
  const others = media.filter(({ name }) => !FRAGMENT.test(name))
  others.sort((one, other) => other.size - one.size)
  for (const { name } of others.slice(0, PROBES_MAX)) {
    if (await mayContainMedia(context, name)) return false
  }
  return true
}

/** Probes the first packets of a file. Reports whether the file may contain more than headers. */
async function mayContainMedia(context: RunContext, name: string): Promise<boolean> {
  const { settings, taskSandbox, workspace, signal } = context
  const tool = settings.toolPaths.ffprobe
  const probe = { tool, taskSandbox, workspace, name, signal, readsPackets: true }
  const { content } = await probeFile(probe)
  return content.isEmpty !== true
}

/**
 * Reports whether the start of a file contains a `moof` box. Media segments of fragmented MP4 have
 * a `moof` box; the initialization segment has none.
 */
async function hasFragment(path: string): Promise<boolean> {
  await using handle = await openToolWrittenFile(path)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(FRAGMENT_HEAD_BYTES))
  return buffer.subarray(0, bytesRead).includes("moof")
}

function isPicture(name: string): boolean {
  return mime.getType(name)?.startsWith("image/") === true
}

function isText(name: string): boolean {
  return /\.(?:vtt|srt|ttml|txt|csv|ffcat)$/i.test(name)
}
