import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import {
  bundleKindOf,
  byteLengthOf,
  fitsPattern,
  isPlaylist,
  MEMBER_NAMES_BYTES_MAX,
  memberName,
  MEMBERS_MAX,
} from "../src/contract/bundle.ts"
import type { FailureCode } from "../src/contract/failure.ts"
import type { TaskOutput } from "../src/contract/task.ts"
import { mapAtOnce } from "./at-once.ts"
import type { Explained } from "./explain.ts"
import { openPlainFile } from "./plain-file.ts"
import { readPlaylist } from "./playlist.ts"
import type { Playlist } from "./playlist.ts"
import type { Run } from "./run.ts"

/** The files of one bundle by name, its playlist first, and how long its longest playlist plays. */
export type BundleFiles = { names: string[]; durationSeconds: number | null }

type Place = Pick<Run, "order" | "workspace" | "signal">

/** What two passes leave for each other (ffmpeg, x264, x265, vidstab), which is nobody's output. */
const PASS_LOG = /\.log(?:\.(?:mbtree|cutree|temp))*$|\.trf$/
const LOOKS_AT_ONCE = 16
const PLAYLIST_BYTES_MAX = 4 * 1024 * 1024
const PLAYLISTS_BYTES_MAX = 16 * 1024 * 1024
const HLS_PLAYLISTS_MAX = 500
const DASH_MANIFESTS_MAX = 8

const order = new Intl.Collator("en", { numeric: true })

/**
 * Shares out the files that the commands left beside their plain outputs: a series has what fits
 * its pattern, a playlist what it names, each also what their playlists name; the first bundle has
 * the rest. A file that two of them need is in both, so that each plays on its own.
 */
export async function gatherBundles(
  run: Place,
  outputs: readonly TaskOutput[],
): Promise<Map<string, BundleFiles> | Explained> {
  const bundles = outputs.filter(({ name }) => bundleKindOf(name) !== null)
  if (bundles.length === 0) return new Map()
  const files = await listFiles(run, outputs)
  const excess = findExcess([...files.keys()])
  if (excess) return excess
  const playlists = await readPlaylists(run.workspace, files)
  const claimed = bundles.map(({ name }) => claim(name, [...files.keys()], playlists))
  const taken = new Set(claimed.flatMap((names) => [...names]))
  for (const name of files.keys()) if (!taken.has(name)) claimed[0]?.add(name)
  const gathered = new Map(
    bundles.map(({ key, name }, index) => [key, arrange(name, claimed[index], playlists)]),
  )
  const failure = findFailure(bundles, gathered)
  if (failure) return failure
  // A muxer that counts nothing writes one file, whose name is the pattern.
  for (const { key, name } of bundles.filter((each) => bundleKindOf(each.name) === "series")) {
    if (gathered.get(key)?.names.join("/") === name) gathered.delete(key)
  }
  return gathered
}

/** Plain files at the top of the workspace that no command was given and no other output is. */
async function listFiles(run: Place, outputs: readonly TaskOutput[]): Promise<Map<string, Stats>> {
  const plain = outputs.filter(({ name }) => bundleKindOf(name) === null)
  const known = new Set([...run.order.inputs, ...plain].map(({ name }) => name))
  const names = (await readdir(run.workspace)).filter((name) => !known.has(name))
  const pace = { limit: LOOKS_AT_ONCE, signal: run.signal }
  const looks = await mapAtOnce(names, pace, async (name) => {
    const facts = await lstat(join(run.workspace, name)).catch(() => null)
    return { name, facts }
  })
  const files = new Map<string, Stats>()
  for (const { name, facts } of looks) {
    if (!facts?.isFile() || facts.nlink !== 1 || PASS_LOG.test(name)) continue
    if (facts.size > 0 || !name.endsWith(".tmp")) files.set(name, facts)
  }
  return files
}

async function readPlaylists(
  workspace: string,
  files: Map<string, Stats>,
): Promise<Map<string, Playlist>> {
  const playlists = new Map<string, Playlist>()
  const room = { bytes: PLAYLISTS_BYTES_MAX, hls: HLS_PLAYLISTS_MAX, dash: DASH_MANIFESTS_MAX }
  for (const [name, { size }] of files) {
    if (!isPlaylist(name) || size > PLAYLIST_BYTES_MAX) continue
    const kind = /\.mpd$/i.test(name) ? "dash" : "hls"
    if (room[kind] === 0 || room.bytes < size) continue
    room[kind] -= 1
    room.bytes -= size
    await using handle = await openPlainFile(join(workspace, name))
    playlists.set(name, readPlaylist(name, await handle.readFile("utf8")))
  }
  return playlists
}

/** The names that a bundle needs, with those that its playlists name, and theirs. */
function claim(
  output: string,
  names: readonly string[],
  playlists: Map<string, Playlist>,
): Set<string> {
  const isSeries = bundleKindOf(output) === "series"
  const claimed = new Set(
    names.filter((name) => (isSeries ? fitsPattern(output, name) : name === output)),
  )
  // What is added on the way is visited too.
  for (const name of claimed) {
    const playlist = playlists.get(name)
    for (const other of playlist ? names : []) if (playlist?.isNaming(other)) claimed.add(other)
  }
  return claimed
}

function arrange(
  output: string,
  names: ReadonlySet<string> = new Set(),
  playlists: Map<string, Playlist>,
): BundleFiles {
  const others = [...names].filter((name) => name !== output).toSorted(order.compare)
  const seconds = [...names].flatMap((name) => playlists.get(name)?.durationSeconds ?? [])
  return {
    names: names.has(output) ? [output, ...others] : others,
    durationSeconds: seconds.length > 0 ? Math.max(...seconds) : null,
  }
}

function findFailure(
  bundles: readonly TaskOutput[],
  gathered: Map<string, BundleFiles>,
): Explained | null {
  for (const { key, name } of bundles) {
    const names = gathered.get(key)?.names ?? []
    const isMissing = bundleKindOf(name) === "playlist" && names[0] !== name
    if (names.length === 0 || isMissing) {
      return blameCaller("no_output", `The output ${key} ("${name}") was not made.`)
    }
    if (!names.every((each) => memberName.safeParse(each).success)) {
      const expected = "names have up to 240 bytes, no backslash and no control characters"
      const message = `The output ${key} ("${name}") has a file that cannot be kept: ${expected}.`
      return blameCaller("no_output", message)
    }
  }
  return findExcess([...gathered.values()].flatMap(({ names }) => names))
}

function findExcess(names: readonly string[]): Explained | null {
  if (names.length > MEMBERS_MAX) {
    const message = `The outputs have ${names.length} files, and a command may make ${MEMBERS_MAX}.`
    return blameCaller("file_limit", message)
  }
  const bytes = names.reduce((sum, name) => sum + byteLengthOf(name), 0)
  if (bytes <= MEMBER_NAMES_BYTES_MAX) return null
  const message = `The names of the outputs' files have ${bytes} bytes, and all together they may have ${MEMBER_NAMES_BYTES_MAX}: use shorter ones.`
  return blameCaller("file_limit", message)
}

function blameCaller(code: FailureCode, message: string): Explained {
  return { blame: "caller", failure: { code, message, lines: [] } }
}
