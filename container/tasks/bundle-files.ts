import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { bundleKindOf, isPlaylist } from "../../src/contract/bundle.ts"
import type { TaskInput, TaskOutput } from "../../src/contract/task.ts"
import { isPlainFile, openPlainFile } from "../sandbox/workspace.ts"
import { mapWithConcurrency } from "../transfer/promises.ts"
import { readPlaylist } from "./playlist.ts"
import type { Playlist } from "./playlist.ts"

/** The workspace in which a task's commands have run. */
export type FinishedWorkspace = {
  workspace: string
  order: { inputs: readonly TaskInput[] }
  signal: AbortSignal
}

/** Logs that ffmpeg, x264, x265 and vidstab write between two passes; never part of an output. */
const PASS_LOG = /\.log(?:\.(?:mbtree|cutree|temp))*$|\.trf$/
const STATS_AT_ONCE = 16
const PLAYLIST_BYTES_MAX = 4 * 1024 * 1024
const PLAYLISTS_BYTES_MAX = 16 * 1024 * 1024
const HLS_PLAYLISTS_MAX = 500
const DASH_MANIFESTS_MAX = 8

/**
 * Regular files of the workspace that are neither inputs nor plain outputs. A name that is no UTF-8
 * finds no file here; no tool makes one of a command, whose words are text.
 */
export async function listBundleFiles(
  { workspace, order, signal }: FinishedWorkspace,
  outputs: readonly TaskOutput[],
): Promise<Map<string, Stats>> {
  const plain = outputs.filter(({ name }) => bundleKindOf(name) === null)
  const known = new Set([...order.inputs, ...plain].map(({ name }) => name))
  const names = (await readdir(workspace)).filter((name) => !known.has(name))
  const options = { limit: STATS_AT_ONCE, signal }
  const entries = await mapWithConcurrency(names, options, async (name) => {
    const stats = await lstat(join(workspace, name)).catch(() => null)
    return { name, stats }
  })
  const files = new Map<string, Stats>()
  for (const { name, stats } of entries) {
    if (!stats || !isPlainFile(stats) || PASS_LOG.test(name)) continue
    if (stats.size > 0 || !name.endsWith(".tmp")) files.set(name, stats)
  }
  return files
}

/** Reads the playlists among files, within limits; by their index in `names`. */
export async function readPlaylists(
  { workspace, signal }: FinishedWorkspace,
  names: readonly string[],
  files: ReadonlyMap<string, Stats>,
): Promise<Map<number, Playlist>> {
  const playlists = new Map<number, Playlist>()
  const left = { bytes: PLAYLISTS_BYTES_MAX, hls: HLS_PLAYLISTS_MAX, dash: DASH_MANIFESTS_MAX }
  for (const [index, name] of names.entries()) {
    const size = files.get(name)?.size ?? Infinity
    if (!isPlaylist(name) || size > PLAYLIST_BYTES_MAX) continue
    const kind = /\.mpd$/i.test(name) ? "dash" : "hls"
    if (left[kind] === 0 || left.bytes < size) continue
    left[kind] -= 1
    left.bytes -= size
    signal.throwIfAborted()
    await using handle = await openPlainFile(join(workspace, name))
    playlists.set(index, readPlaylist(name, await handle.readFile("utf8")))
  }
  return playlists
}
