import { lstat } from "node:fs/promises"
import mime from "mime"
import { isPlaylist } from "../../src/contract/bundle.ts"
import { openPlainFile, pathIn } from "../sandbox/workspace.ts"
import { probeFile } from "../tools/ffprobe.ts"
import type { BundleFiles } from "./gather-bundles.ts"
import type { RunContext } from "./run-context.ts"

/** A file above this is no header alone. */
const HEADERS_BYTES_MAX = 64 * 1024
/** The largest files are probed; where these hold nothing, smaller ones hold nothing either. */
const PROBES_MAX = 4
const FRAGMENT_HEAD_BYTES = 4096
const FRAGMENT = /\.(?:m4s|cmf[vat])$/i

/**
 * Whether a bundle holds no picture and no sound: its media files are empty, or headers alone. One
 * of texts and nothing else, as of subtitles, is not.
 */
export async function isBundleEmpty(context: RunContext, bundle: BundleFiles): Promise<boolean> {
  const names = bundle.names.filter((name) => !isPlaylist(name))
  const mediaNames = names.filter((name) => !isText(name))
  // A list may name files that are outputs of their own.
  if (mediaNames.length === 0) return names.length === 0 && (bundle.durationSeconds ?? 0) === 0
  const media: { name: string; size: number }[] = []
  for (const name of mediaNames) {
    const { size } = await lstat(pathIn(context.workspace, name))
    if (size > HEADERS_BYTES_MAX || (size > 0 && isPicture(name))) return false
    if (size > 0) media.push({ name, size })
  }
  // A header may be larger than a segment, so all fragments are looked at.
  const fragments = media.filter(({ name }) => FRAGMENT.test(name))
  for (const { name } of fragments) {
    if (await hasFragment(pathIn(context.workspace, name))) return false
  }
  const others = media.filter(({ name }) => !FRAGMENT.test(name))
  others.sort((one, other) => other.size - one.size)
  for (const { name } of others.slice(0, PROBES_MAX)) {
    if (await holdsMedia(context, name)) return false
  }
  return true
}

/** Whether a file that is not empty holds more than headers, or may do so. */
async function holdsMedia(context: RunContext, name: string): Promise<boolean> {
  const { settings, taskSandbox, workspace, signal } = context
  const tool = settings.toolPaths.ffprobe
  const probe = { tool, taskSandbox, workspace, name, signal, readsPackets: true }
  const { content } = await probeFile(probe)
  return content.isEmpty !== true
}

/** Whether a file begins with a box of media, as segments do and their header does not. */
async function hasFragment(path: string): Promise<boolean> {
  await using handle = await openPlainFile(path)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(FRAGMENT_HEAD_BYTES))
  return buffer.subarray(0, bytesRead).includes("moof")
}

function isPicture(name: string): boolean {
  return mime.getType(name)?.startsWith("image/") === true
}

function isText(name: string): boolean {
  return /\.(?:vtt|srt|ttml|txt|key|csv|ffcat)$/i.test(name)
}
