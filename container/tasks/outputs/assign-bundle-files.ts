import {
  findBundleKind,
  countUtf8Bytes,
  isPlaylistFileName,
  BUNDLE_MEMBER_NAMES_BYTES_MAX,
  bundleMemberNameSchema,
  BUNDLE_MEMBERS_MAX,
  compileNamePattern,
} from "../../../src/contract/bundle.ts"
import type { OutputName } from "../../../src/contract/bundle.ts"
import type { TaskInput, TaskOutput } from "../../../src/contract/task.ts"
import { createCallerFailure } from "../../task-failure.ts"
import type { TaskFailure } from "../../task-failure.ts"
import type { FinishedFfmpegRun } from "../../tools/ffmpeg/run-ffmpeg.ts"
import { HLS_KEY_INFO_FILE_PREFIX } from "../command/key-info.ts"
import { emptyOutputFailure } from "./empty-output.ts"
import { parsePlaylist } from "./playlist.ts"
import type { Playlist } from "./playlist.ts"
import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { isToolFileSafeToOpen, openToolWrittenFile } from "../../sandbox/workspace.ts"
import { mapWithConcurrency } from "../../transfer/concurrency-and-retry.ts"
import { setImmediate as yieldToEventLoop } from "node:timers/promises"

/**
 * Files in the workspace that belong to a bundle: an output of several files, which is a playlist
 * or a numbered series. If the output is a playlist, `names` begins with the playlist. `playlist`
 * is the playlist that a player opens first, or null. `durationSeconds` is the duration of the
 * longest playlist, or null. `isEncrypted` means that the runner cannot probe the segments of the
 * bundle.
 */
export type BundleFiles = {
  names: string[]
  playlist: string | null
  durationSeconds: number | null
  isEncrypted: boolean
}

/**
 * Maximum time for the assignment of files to bundles, in milliseconds. The assignment usually
 * takes milliseconds, but may take seconds for the largest numbers of files and playlists that are
 * allowed.
 */
const SEARCH_MS_MAX = 10_000

const naturalOrder = new Intl.Collator("en", { numeric: true })

/**
 * Assigns the files in a workspace to the bundles (outputs of several files). Inputs and
 * single-file outputs are not assigned. A series gets the files that match its pattern. A playlist
 * gets itself and the files that it names. If one of these files is a playlist too, the bundle also
 * gets the files that this playlist names. The first bundle gets all remaining files. A file may
 * belong to two bundles. Returns an empty map if no output is a bundle.
 */
export async function assignFilesToBundles(
  finished: FinishedWorkspace & { runs?: readonly FinishedFfmpegRun[] },
  outputs: readonly TaskOutput[],
  searchMsMax = SEARCH_MS_MAX,
): Promise<Map<string, BundleFiles> | TaskFailure> {
  const bundles = outputs.filter((output) => findBundleKind(output) !== null)
  if (bundles.length === 0) return new Map()
  const files = await listBundleCandidateFiles(finished, outputs)
  const listed = [...files.keys()]
  const excess = findExcess(listed)
  if (excess) return excess
  const untilMs = performance.now() + searchMsMax
  listed.sort(naturalOrder.compare)
  const read = await readPlaylists(finished, listed, files)
  const names = withoutKeys(listed, [...read.values()])
  const playlists = new Map(
    names.flatMap((name, index) => {
      const playlist = read.get(name)
      return playlist ? [[index, playlist] as const] : []
    }),
  )
  const search = { bundles, names, playlists }
  const assignments = await assignFiles(search, { signal: finished.signal, untilMs })
  if (!assignments) return searchTimeout(searchMsMax)
  for (const index of names.keys()) {
    if (assignments.some((assignment) => assignment[index] === 1)) continue
    assignments[0]?.fill(1, index, index + 1)
  }
  const failed = findFailure(bundles, search, assignments, finished.runs ?? [])
  return failed ?? toBundleFiles(bundles, search, assignments)
}

function toBundleFiles(
  bundles: readonly TaskOutput[],
  { names, playlists }: FileSearch,
  assignments: readonly FileAssignment[],
): Map<string, BundleFiles> {
  const gathered = new Map<string, BundleFiles>()
  for (const [bundleIndex, bundle] of bundles.entries()) {
    const { key, name } = bundle
    const kind = findBundleKind(bundle)
    const indexes = assignedIndexes(assignments[bundleIndex])
    const read = indexes.flatMap((index) => playlists.get(index) ?? [])
    const seconds = read.flatMap(({ durationSeconds }) => durationSeconds ?? [])
    const assigned = indexes.map((index) => names[index] ?? "")
    const others = assigned.filter((each) => each !== name)
    // If the only file is named exactly like the pattern, such as `img-%d.png`, treats the output
    // as a single file, because the muxer has not replaced the number.
    if (kind === "series" && others.length === 0) continue
    gathered.set(key, {
      names: others.length < assigned.length ? [name, ...others] : others,
      playlist: kind === "playlist" ? name : findEntryPlaylist(assigned, read),
      durationSeconds: seconds.length > 0 ? Math.max(...seconds) : null,
      isEncrypted: read.some(({ keys }) => keys.size > 0),
    })
  }
  return gathered
}

/**
 * Returns the only playlist of a series that is not named by another playlist, such as a master
 * playlist. Returns null if there is no such playlist or more than one.
 */
function findEntryPlaylist(
  names: readonly string[],
  playlists: readonly Playlist[],
): string | null {
  const [first, ...others] = names.filter(
    (name) => isPlaylistFileName(name) && !playlists.some(({ isNaming }) => isNaming(name)),
  )
  return others.length === 0 ? (first ?? null) : null
}

function assignedIndexes(assignment: FileAssignment = new Uint8Array()): number[] {
  return [...assignment.entries()].flatMap(([index, isAssigned]) =>
    isAssigned === 1 ? [index] : [],
  )
}

function findFailure(
  bundles: readonly TaskOutput[],
  { names }: FileSearch,
  assignments: readonly FileAssignment[],
  runs: readonly FinishedFfmpegRun[],
): TaskFailure | null {
  const badNames = names.flatMap((name, index) =>
    bundleMemberNameSchema.safeParse(name).success ? [] : [index],
  )
  for (const [bundleIndex, bundle] of bundles.entries()) {
    const { key, name } = bundle
    const assignment = assignments[bundleIndex] ?? new Uint8Array()
    const isMissing = findBundleKind(bundle) === "playlist" && !names.includes(name)
    if (!assignment.includes(1) || isMissing) {
      return emptyOutputFailure({ key, name }, "was not made", runs)
    }
    if (badNames.some((index) => assignment[index] === 1)) {
      const expected = "names have up to 240 bytes, no backslash and no control characters"
      const message = `The output ${key} ("${name}") has a file that cannot be stored: ${expected}.`
      return createCallerFailure("no_output", message)
    }
  }
  return findExcess(names, assignments)
}

/**
 * Returns the failure for bundles with too many files, or with file names that are too long in
 * total; null if the bundles are within the limits. A file that belongs to two bundles counts
 * twice.
 */
function findExcess(
  names: readonly string[],
  assignments?: readonly FileAssignment[],
): TaskFailure | null {
  let [files, bytes] = [0, 0]
  for (const [index, name] of names.entries()) {
    const copies = assignments?.filter((assignment) => assignment[index] === 1).length ?? 1
    files += copies
    bytes += copies * countUtf8Bytes(name)
  }
  if (files > BUNDLE_MEMBERS_MAX) {
    const message = `The outputs have ${files} files, and a command may create at most ${BUNDLE_MEMBERS_MAX}.`
    return createCallerFailure("file_limit", message)
  }
  if (bytes <= BUNDLE_MEMBER_NAMES_BYTES_MAX) return null
  const message = `The names of the outputs' files have ${bytes} bytes in total, and at most ${BUNDLE_MEMBER_NAMES_BYTES_MAX} are allowed: use shorter names.`
  return createCallerFailure("file_limit", message)
}

function searchTimeout(msMax: number): TaskFailure {
  const message = `The assignment of files to outputs took more than ${msMax / 1000} seconds: create fewer files, or fewer playlists.`
  return createCallerFailure("time_limit", message)
}

/** Workspace of a task whose commands have all succeeded, with the inputs in the workspace. */
type FinishedWorkspace = {
  workspace: string
  order: { inputs: readonly TaskInput[] }
  signal: AbortSignal
}

/**
 * Removes the names of key files from a list of file names. Key files are files that a playlist
 * names as keys, and files whose names end with `.key`. No bundle contains a key file.
 */
function withoutKeys(names: readonly string[], playlists: readonly Playlist[]): string[] {
  const keys = new Set(playlists.flatMap((playlist) => [...playlist.keys]))
  return names.filter(
    (name) => isPlaylistFileName(name) || (!name.endsWith(".key") && !keys.has(name)),
  )
}

/**
 * Matches the names of log files that ffmpeg, x264, x265 and vidstab write between two passes. Such
 * files are never part of an output.
 */
const PASS_LOG = /\.log(?:\.(?:mbtree|cutree|temp))*$|\.trf$/
const STATS_AT_ONCE = 16
const PLAYLIST_BYTES_MAX = 4 * 1024 * 1024
const PLAYLISTS_BYTES_MAX = 16 * 1024 * 1024
const HLS_PLAYLISTS_MAX = 500
const DASH_MANIFESTS_MAX = 8

/**
 * Lists the regular files of the workspace that are neither inputs nor single-file outputs. Skips
 * names that are not valid UTF-8. Tools do not write such names, because the arguments of a command
 * are text.
 */
export async function listBundleCandidateFiles(
  { workspace, order, signal }: FinishedWorkspace,
  outputs: readonly TaskOutput[],
): Promise<Map<string, Stats>> {
  const plain = outputs.filter((output) => findBundleKind(output) === null)
  const otherNames = new Set([...order.inputs, ...plain].map(({ name }) => name))
  const names = (await readdir(workspace)).filter((name) => !otherNames.has(name))
  const options = { limit: STATS_AT_ONCE, signal }
  const entries = await mapWithConcurrency(names, options, async (name) => {
    const stats = await lstat(join(workspace, name)).catch(() => null)
    return { name, stats }
  })
  const files = new Map<string, Stats>()
  for (const { name, stats } of entries) {
    if (!stats || !isToolFileSafeToOpen(stats) || PASS_LOG.test(name)) continue
    if (name.startsWith(HLS_KEY_INFO_FILE_PREFIX)) continue
    if (stats.size > 0 || !name.endsWith(".tmp")) files.set(name, stats)
  }
  return files
}

/**
 * Reads and parses the playlists among the files, within limits of number and size. The keys of the
 * returned map are file names.
 */
async function readPlaylists(
  { workspace, signal }: FinishedWorkspace,
  names: readonly string[],
  files: ReadonlyMap<string, Stats>,
): Promise<Map<string, Playlist>> {
  const playlists = new Map<string, Playlist>()
  const left = { bytes: PLAYLISTS_BYTES_MAX, hls: HLS_PLAYLISTS_MAX, dash: DASH_MANIFESTS_MAX }
  for (const name of names) {
    const size = files.get(name)?.size ?? Infinity
    if (!isPlaylistFileName(name) || size > PLAYLIST_BYTES_MAX) continue
    const kind = /\.mpd$/i.test(name) ? "dash" : "hls"
    if (left[kind] === 0 || left.bytes < size) continue
    left[kind] -= 1
    left.bytes -= size
    signal.throwIfAborted()
    await using handle = await openToolWrittenFile(join(workspace, name))
    playlists.set(name, parsePlaylist(name, await handle.readFile("utf8")))
  }
  return playlists
}

/**
 * Bundles, and names of the files to assign to the bundles. `playlists` contains each parsed
 * playlist by the index of its file in `names`.
 */
type FileSearch = {
  bundles: readonly OutputName[]
  names: readonly string[]
  playlists: ReadonlyMap<number, Playlist>
}

/**
 * Assignment of files to one bundle. The value at the index of a file is 1 if the file belongs to
 * the bundle, else 0.
 */
type FileAssignment = Uint8Array

/** Map from the index of each playlist to the indexes of the files that the playlist names. */
type References = Map<number, Uint16Array>

const NAMES_PER_TURN = 500

/**
 * Assigns to each bundle the files that match its name or pattern. For each assigned file that is a
 * playlist, also assigns the files that the playlist names, recursively. A file may belong to
 * several bundles. Yields to the event loop regularly. Returns null if the assignment is not
 * finished at `untilMs`.
 */
async function assignFiles(
  { bundles, names, playlists }: FileSearch,
  { signal, untilMs }: { signal: AbortSignal; untilMs: number },
): Promise<FileAssignment[] | null> {
  async function isInTime(): Promise<boolean> {
    await yieldToEventLoop()
    signal.throwIfAborted()
    return performance.now() < untilMs
  }
  async function findIndexes(isWanted: (name: string) => boolean): Promise<number[] | null> {
    const indexes: number[] = []
    for (const [index, name] of names.entries()) {
      if (index % NAMES_PER_TURN === 0 && !(await isInTime())) return null
      if (isWanted(name)) indexes.push(index)
    }
    return indexes
  }
  // Computes only once which files a playlist names, since many bundles may refer to the same
  // playlist.
  const references: References = new Map()
  for (const [index, { isNaming }] of playlists) {
    const indexes = await findIndexes(isNaming)
    if (!indexes) return null
    references.set(index, Uint16Array.from(indexes))
  }
  const assignments: FileAssignment[] = []
  for (const bundle of bundles) {
    const isSeries = findBundleKind(bundle) === "series"
    const isOwn = isSeries ? compileNamePattern(bundle) : (name: string) => name === bundle.name
    const own = await findIndexes(isOwn)
    if (!own) return null
    assignments.push(followReferences(Uint16Array.from(own), names.length, references))
  }
  return assignments
}

function followReferences(own: Uint16Array, size: number, references: References): FileAssignment {
  const assigned = new Uint8Array(size)
  const pending = [own]
  for (let indexes = pending.pop(); indexes; indexes = pending.pop()) {
    for (const index of indexes) {
      if (assigned[index] === 1) continue
      assigned[index] = 1
      const others = references.get(index)
      if (others) pending.push(others)
    }
  }
  return assigned
}
