import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import {
  bundleKindOf,
  byteLengthOf,
  isPlaylist,
  MEMBER_NAMES_BYTES_MAX,
  memberName,
  MEMBERS_MAX,
} from "../src/contract/bundle.ts"
import type { FailureCode } from "../src/contract/failure.ts"
import type { TaskOutput } from "../src/contract/task.ts"
import { mapAtOnce } from "./at-once.ts"
import { claimFiles } from "./claims.ts"
import type { Claim, Search } from "./claims.ts"
import type { Explained } from "./explain.ts"
import { openPlainFile } from "./plain-file.ts"
import { readPlaylist } from "./playlist.ts"
import type { Playlist } from "./playlist.ts"
import type { Run } from "./run.ts"

/** The files of one bundle by name, its playlist first, and how long its longest playlist plays. */
export type BundleFiles = { names: string[]; durationSeconds: number | null }

type Place = Pick<Run, "workspace" | "signal"> & { order: Pick<Run["order"], "inputs"> }

/** What two passes leave for each other (ffmpeg, x264, x265, vidstab), which is nobody's output. */
const PASS_LOG = /\.log(?:\.(?:mbtree|cutree|temp))*$|\.trf$/
const LOOKS_AT_ONCE = 16
/** Real work takes some milliseconds, the worst that limits allow a few seconds. */
const SEARCH_MS_MAX = 10_000
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
  searchMsMax = SEARCH_MS_MAX,
): Promise<Map<string, BundleFiles> | Explained> {
  const bundles = outputs.filter(({ name }) => bundleKindOf(name) !== null)
  if (bundles.length === 0) return new Map()
  const files = await listFiles(run, outputs)
  const names = [...files.keys()]
  const excess = findExcess(names)
  if (excess) return excess
  const untilMs = performance.now() + searchMsMax
  names.sort(order.compare)
  const playlists = await readPlaylists(run, names, files)
  const search = { bundles: bundles.map(({ name }) => name), names, playlists }
  const claims = await claimFiles(search, { signal: run.signal, untilMs })
  if (!claims) return tooLong(searchMsMax)
  for (const place of names.keys()) {
    if (!claims.some((claim) => claim[place] === 1)) claims[0]?.fill(1, place, place + 1)
  }
  const failure = findFailure(bundles, search, claims)
  if (failure) return failure
  return arrangeAll(bundles, search, claims)
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
  { workspace, signal }: Place,
  names: readonly string[],
  files: ReadonlyMap<string, Stats>,
): Promise<Map<number, Playlist>> {
  const playlists = new Map<number, Playlist>()
  const room = { bytes: PLAYLISTS_BYTES_MAX, hls: HLS_PLAYLISTS_MAX, dash: DASH_MANIFESTS_MAX }
  for (const [place, name] of names.entries()) {
    const size = files.get(name)?.size ?? Infinity
    if (!isPlaylist(name) || size > PLAYLIST_BYTES_MAX) continue
    const kind = /\.mpd$/i.test(name) ? "dash" : "hls"
    if (room[kind] === 0 || room.bytes < size) continue
    room[kind] -= 1
    room.bytes -= size
    signal.throwIfAborted()
    await using handle = await openPlainFile(join(workspace, name))
    playlists.set(place, readPlaylist(name, await handle.readFile("utf8")))
  }
  return playlists
}

function arrangeAll(
  bundles: readonly TaskOutput[],
  { names, playlists }: Search,
  claims: readonly Claim[],
): Map<string, BundleFiles> {
  const gathered = new Map<string, BundleFiles>()
  for (const [index, { key, name }] of bundles.entries()) {
    const places = placesIn(claims[index])
    const seconds = places.flatMap((place) => playlists.get(place)?.durationSeconds ?? [])
    const claimed = places.map((place) => names[place] ?? "")
    const others = claimed.filter((each) => each !== name)
    // A muxer that counts nothing writes one file, whose name is the pattern.
    if (bundleKindOf(name) === "series" && others.length === 0) continue
    gathered.set(key, {
      names: others.length < claimed.length ? [name, ...others] : others,
      durationSeconds: seconds.length > 0 ? Math.max(...seconds) : null,
    })
  }
  return gathered
}

function placesIn(claim: Claim = new Uint8Array()): number[] {
  return [...claim.entries()].flatMap(([place, isClaimed]) => (isClaimed === 1 ? [place] : []))
}

function findFailure(
  bundles: readonly TaskOutput[],
  { names }: Search,
  claims: readonly Claim[],
): Explained | null {
  const refused = names.flatMap((name, at) => (memberName.safeParse(name).success ? [] : [at]))
  for (const [index, { key, name }] of bundles.entries()) {
    const claim = claims[index] ?? new Uint8Array()
    const isMissing = bundleKindOf(name) === "playlist" && !names.includes(name)
    if (!claim.includes(1) || isMissing) {
      return blameCaller("no_output", `The output ${key} ("${name}") was not made.`)
    }
    if (refused.some((place) => claim[place] === 1)) {
      const expected = "names have up to 240 bytes, no backslash and no control characters"
      const message = `The output ${key} ("${name}") has a file that cannot be kept: ${expected}.`
      return blameCaller("no_output", message)
    }
  }
  return findExcess(names, claims)
}

/** Too many files, or names; a file that two bundles need is two. */
function findExcess(names: readonly string[], claims?: readonly Claim[]): Explained | null {
  let [files, bytes] = [0, 0]
  for (const [place, name] of names.entries()) {
    const copies = claims ? claims.filter((claim) => claim[place] === 1).length : 1
    files += copies
    bytes += copies * byteLengthOf(name)
  }
  if (files > MEMBERS_MAX) {
    const message = `The outputs have ${files} files, and a command may make ${MEMBERS_MAX}.`
    return blameCaller("file_limit", message)
  }
  if (bytes <= MEMBER_NAMES_BYTES_MAX) return null
  const message = `The names of the outputs' files have ${bytes} bytes, and all together they may have ${MEMBER_NAMES_BYTES_MAX}: use shorter ones.`
  return blameCaller("file_limit", message)
}

function tooLong(msMax: number): Explained {
  const message = `Finding out which files belong to which output took more than ${msMax / 1000} seconds: make fewer files, or fewer playlists that name them.`
  return blameCaller("time_limit", message)
}

function blameCaller(code: FailureCode, message: string): Explained {
  return { blame: "caller", failure: { code, message, lines: [] } }
}
