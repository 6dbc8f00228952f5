import {
  bundleKindOf,
  byteLengthOf,
  isPlaylist,
  MEMBER_NAMES_BYTES_MAX,
  memberName,
  MEMBERS_MAX,
} from "../../src/contract/bundle.ts"
import type { TaskOutput } from "../../src/contract/task.ts"
import { callerFailure } from "../failures.ts"
import type { TaskFailure } from "../failures.ts"
import type { FinishedRun } from "../tools/run-ffmpeg.ts"
import { listBundleFiles, readPlaylists } from "./bundle-files.ts"
import type { FinishedWorkspace } from "./bundle-files.ts"
import { noOutput } from "./empty-output.ts"
import { assignFiles } from "./file-assignment.ts"
import type { FileAssignment, FileSearch } from "./file-assignment.ts"
import type { Playlist } from "./playlist.ts"

/**
 * File names of one bundle, its playlist first; which of them a player begins with, where there is
 * one; and the duration of its longest playlist.
 */
export type BundleFiles = {
  names: string[]
  playlist: string | null
  durationSeconds: number | null
}

/** Usual outputs take some milliseconds, the worst that the limits allow a few seconds. */
const SEARCH_MS_MAX = 10_000

const naturalOrder = new Intl.Collator("en", { numeric: true })

/**
 * Assigns the files that the commands wrote beside their plain outputs to bundles: to a series the
 * files that match its pattern, to a playlist those that it refers to, and to both what their
 * playlists refer to. The first bundle gets the rest. A file that two bundles need goes to both.
 */
export async function gatherBundles(
  finished: FinishedWorkspace & { runs?: readonly FinishedRun[] },
  outputs: readonly TaskOutput[],
  searchMsMax = SEARCH_MS_MAX,
): Promise<Map<string, BundleFiles> | TaskFailure> {
  const bundles = outputs.filter(({ name }) => bundleKindOf(name) !== null)
  if (bundles.length === 0) return new Map()
  const files = await listBundleFiles(finished, outputs)
  const names = [...files.keys()]
  const excess = findExcess(names)
  if (excess) return excess
  const untilMs = performance.now() + searchMsMax
  names.sort(naturalOrder.compare)
  const playlists = await readPlaylists(finished, names, files)
  const search = { bundles: bundles.map(({ name }) => name), names, playlists }
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
  for (const [bundleIndex, { key, name }] of bundles.entries()) {
    const indexes = assignedIndexes(assignments[bundleIndex])
    const read = indexes.flatMap((index) => playlists.get(index) ?? [])
    const seconds = read.flatMap(({ durationSeconds }) => durationSeconds ?? [])
    const assigned = indexes.map((index) => names[index] ?? "")
    const others = assigned.filter((each) => each !== name)
    // A muxer without numbering writes one file, whose name is the pattern.
    if (bundleKindOf(name) === "series" && others.length === 0) continue
    gathered.set(key, {
      names: others.length < assigned.length ? [name, ...others] : others,
      playlist: bundleKindOf(name) === "playlist" ? name : findEntry(assigned, read),
      durationSeconds: seconds.length > 0 ? Math.max(...seconds) : null,
    })
  }
  return gathered
}

/** The playlist of a series that no other one names, as a master is; null where several are so. */
function findEntry(names: readonly string[], playlists: readonly Playlist[]): string | null {
  const [first, ...others] = names.filter(
    (name) => isPlaylist(name) && !playlists.some(({ isNaming }) => isNaming(name)),
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
  runs: readonly FinishedRun[],
): TaskFailure | null {
  const badNames = names.flatMap((name, index) =>
    memberName.safeParse(name).success ? [] : [index],
  )
  for (const [bundleIndex, { key, name }] of bundles.entries()) {
    const assignment = assignments[bundleIndex] ?? new Uint8Array()
    const isMissing = bundleKindOf(name) === "playlist" && !names.includes(name)
    if (!assignment.includes(1) || isMissing) {
      return noOutput({ key, name }, "was not made", runs)
    }
    if (badNames.some((index) => assignment[index] === 1)) {
      const expected = "names have up to 240 bytes, no backslash and no control characters"
      const message = `The output ${key} ("${name}") has a file that cannot be kept: ${expected}.`
      return callerFailure("no_output", message)
    }
  }
  return findExcess(names, assignments)
}

/** Fails for too many files or names; a file that two bundles need counts twice. */
function findExcess(
  names: readonly string[],
  assignments?: readonly FileAssignment[],
): TaskFailure | null {
  let [files, bytes] = [0, 0]
  for (const [index, name] of names.entries()) {
    const copies = assignments?.filter((assignment) => assignment[index] === 1).length ?? 1
    files += copies
    bytes += copies * byteLengthOf(name)
  }
  if (files > MEMBERS_MAX) {
    const message = `The outputs have ${files} files, and a command may make ${MEMBERS_MAX}.`
    return callerFailure("file_limit", message)
  }
  if (bytes <= MEMBER_NAMES_BYTES_MAX) return null
  const message = `The names of the outputs' files have ${bytes} bytes, and all together they may have ${MEMBER_NAMES_BYTES_MAX}: use shorter ones.`
  return callerFailure("file_limit", message)
}

function searchTimeout(msMax: number): TaskFailure {
  const message = `Finding out which files belong to which output took more than ${msMax / 1000} seconds: make fewer files, or fewer playlists that name them.`
  return callerFailure("time_limit", message)
}
